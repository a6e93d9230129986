/** Servers with an address in the settings of hosts, and what of them the environment of their proxy has. */

/** Members with the address: most hosts; Gemini CLI and Qwen Code for Streamable HTTP; Windsurf. */
export const URL_MEMBERS = ['url', 'httpUrl', 'serverUrl']

/** Names the variable with the member that had the address, if it was not the first: there it is put back. */
export const MCP_URL_MEMBER = 'SPILLWAY_MCP_URL_MEMBER'

/** Names the variable with the headers, one on each line. Arguments of a process can be read by every user of the machine. */
export const MCP_HEADERS = 'SPILLWAY_MCP_HEADERS'

/** A header line, such as `Authorization: Bearer …`; `undefined` for any other text. */
export function headerIn(line: string): [name: string, value: string] | undefined {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? []
  return name === undefined || value === undefined ? undefined : [name, value]
}

export function headersIn(lines: string): [name: string, value: string][] {
  return lines.split('\n').flatMap((line) => {
    const header = headerIn(line)
    return header === undefined ? [] : [header]
  })
}
