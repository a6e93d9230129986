/** Servers with an address in the settings of hosts, and the parts of them that are kept in the environment of their proxy. */

/** Members with the address: most hosts; Gemini CLI and Qwen Code for Streamable HTTP; Windsurf. */
const URL_MEMBERS = ['url', 'httpUrl', 'serverUrl']

/** The address of a server, and the name of its member. */
export interface Address {
  member: string
  url: string
}

/**
 * The address of a server as a host describes it; `undefined` for a program, also for one with an address beside it.
 * @throws Error for a server that the proxy cannot be put before
 */
export function addressIn(server: Readonly<Record<string, unknown>>): Address | undefined {
  if (server.command) return undefined
  const [address, other] = URL_MEMBERS.flatMap((member) => {
    const url = server[member]
    return typeof url === 'string' ? [{ member, url }] : []
  })
  if (address === undefined) return undefined
  if (other !== undefined) throw new Error(`it has two URLs, "${address.member}" and "${other.member}"`)
  if (server.type === 'sse')
    throw new Error('the proxy does not speak the transport "sse"; the server may speak "http" as well')
  return address
}

/** The member that a text names; `url` if it names none. */
export function urlMember(named: unknown): string {
  return URL_MEMBERS.find((member) => member === named) ?? 'url'
}

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
