/** Headers of a server in the environment of its proxy: arguments of a process can be read by every user of the machine. */

/** Names the variable, one header on each line. */
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
