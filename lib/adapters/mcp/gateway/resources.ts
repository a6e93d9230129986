/** Resources of several servers: their URIs stay unchanged, and are routed to the server that listed them. */

import { asText } from '../../../util/guards'
import type { Member } from './member'

export class Resources {
  private readonly owners = new Map<string, Member>()
  /** The text before the first variable of a template, and whose it is. */
  private readonly beginnings = new Map<string, Member>()

  /** The first of several servers with a resource answers for it. */
  async list(members: readonly Member[]): Promise<object[]> {
    const found = await listsOf(members, 'resources/list', 'resources')
    this.owners.clear()
    return found.flatMap(({ member, entry }) => {
      const uri = asText(entry.uri)
      if (this.owners.has(uri)) return []
      this.owners.set(uri, member)
      return [entry]
    })
  }

  async templates(members: readonly Member[]): Promise<object[]> {
    const found = await listsOf(members, 'resources/templates/list', 'resourceTemplates')
    this.beginnings.clear()
    for (const { member, entry } of found) {
      const [beginning = ''] = asText(entry.uriTemplate).split('{')
      if (!this.beginnings.has(beginning)) this.beginnings.set(beginning, member)
    }
    return found.map(({ entry }) => entry)
  }

  /** Returns the server that listed an address or the longest template of it; else the first one that has resources. */
  ownerOf(uri: unknown, members: readonly Member[]): Member | undefined {
    const text = asText(uri)
    const owner = this.owners.get(text)
    if (owner !== undefined) return owner
    const fitting = [...this.beginnings].filter(([beginning]) => text.startsWith(beginning))
    const [longest] = fitting.sort(([one], [other]) => other.length - one.length)
    return longest?.[1] ?? members.find((member) => member.has('resources'))
  }
}

async function listsOf(members: readonly Member[], method: string, key: string) {
  const able = members.filter((member) => member.has('resources'))
  const lists = await Promise.all(able.map((member) => member.list(method, key)))
  return able.flatMap((member, index) => lists[index]!.map((entry) => ({ member, entry })))
}
