/** The tools of all servers: their names in the host's list, and the server of each. */

import { asText } from '../../../util/guards'
import { isRecord } from '../../../validation/validate'
import { type HostProfile, hostOf, hostOfClient } from '../hosts'
import { CALL_TOOL, DESCRIBE_TOOL, LazyTools, type ListedTool, unknownTool } from './lazy-tools'
import type { Member } from './member'
import { type Entry, SharedNames } from './shared-names'

/** Names of the tools that read saved outputs: a notice may name them before it is known who has them. */
const OURS = ['read_output', 'search_output']
/** Characters of a description that hosts hand on. */
const DESCRIPTION = 8192

export class CatalogOfTools {
  readonly isLazy: boolean
  private readonly names: SharedNames<Member>
  private readonly lazy = new LazyTools()
  private listed: ListedTool[] | undefined
  private profile: HostProfile

  constructor(
    isLazy: boolean,
    private readonly host: string | undefined,
  ) {
    this.isLazy = isLazy
    this.names = new SharedNames(new Set([...OURS, ...(isLazy ? [DESCRIBE_TOOL, CALL_TOOL] : [])]))
    this.profile = (host === undefined ? undefined : hostOf(host)) ?? hostOfClient(undefined)
  }

  /** @param params those of `initialize` */
  learnHost(params: unknown): void {
    const info = isRecord(params) ? params.clientInfo : undefined
    if (this.host === undefined && isRecord(info)) this.profile = hostOfClient(info.name)
  }

  /** Returns the list for the host. */
  async list(members: readonly Member[]): Promise<object[]> {
    const tools = await this.ask(members)
    if (!this.isLazy) return tools.map(({ definition }) => definition)
    return this.lazy.list(tools, this.profile.maxDescription ?? DESCRIPTION)
  }

  async describe(args: unknown, members: readonly Member[]) {
    return this.lazy.describe(args, this.listed ?? (await this.ask(members)))
  }

  /** Returns the server and the name of a tool there; asks for the lists again where the name is not known. */
  async find(name: string, members: readonly Member[]): Promise<Entry<Member> | undefined> {
    const known = this.entryOf(name)
    // Another proxy offers the tools for outputs when the first has ended.
    if (known !== undefined && !(known.isOurs && known.member.end !== undefined)) return known
    await this.ask(members)
    return this.entryOf(name)
  }

  async unknown(name: string, members: readonly Member[]): Promise<string> {
    const tools = this.listed ?? (await this.ask(members))
    if (this.isLazy) return unknownTool(name, tools)
    return `No server has a tool ${JSON.stringify(name.slice(0, 200).toWellFormed())}.`
  }

  private entryOf(name: string): Entry<Member> | undefined {
    const other = OURS.includes(name) ? this.names.find(`spillway_${name}`) : undefined
    return this.names.find(name) ?? (other?.isOurs ? other : undefined)
  }

  private async ask(members: readonly Member[]): Promise<ListedTool[]> {
    const able = members.filter((member) => member.has('tools'))
    const lists = await Promise.all(able.map((member) => member.list('tools/list', 'tools')))
    const all = able.flatMap((member, index) => lists[index]!.map((tool) => entryOf(member, tool)))
    const named = all.filter(({ name }) => name !== '')
    // Ours first: their names are taken before a server's are, and stand last in the list.
    const entries = [...named.filter(({ isOurs }) => isOurs), ...named.filter(({ isOurs }) => !isOurs)]
    const names = this.names.assign(entries)
    const tools = entries.map(({ tool, isOurs }, index) => {
      const name = names[index]!
      return { name, isOurs, definition: { ...tool, name } }
    })
    this.listed = [...tools.filter(({ isOurs }) => !isOurs), ...tools.filter(({ isOurs }) => isOurs)]
    return this.listed
  }
}

function entryOf(member: Member, tool: Record<string, unknown>) {
  const name = asText(tool.name)
  return { member, name, isOurs: member.offers(name), tool }
}
