/** Names of the tools, or of the prompts, of several servers in one list. */

/** The entry of a server's list. */
export interface Entry<M> {
  member: M
  name: string
  /** One of the tools that read saved outputs, which some proxy adds to its server's list. */
  isOurs: boolean
}

/** Names that hosts hand to providers have these characters only. */
const OTHERS = /[^A-Za-z0-9_-]+/g

/**
 * A name that one server has stays as it is. A name of several servers, or one that is reserved, is written `server_name`. A name that was
 * listed stays, so that a server that comes or ends renames no tool of another.
 */
export class SharedNames<M extends { name: string }> {
  private readonly given = new Map<string, string>()
  private readonly entries = new Map<string, Entry<M>>()

  constructor(private readonly reserved: ReadonlySet<string>) {}

  /** Returns the names of the entries of all lists, in their order. */
  assign(entries: readonly Entry<M>[]): string[] {
    const counts = new Map<string, number>()
    for (const { name, isOurs } of entries) if (!isOurs) counts.set(name, (counts.get(name) ?? 0) + 1)
    return entries.map((entry) => {
      const key = JSON.stringify(entry.isOurs ? [entry.name] : [entry.member.name, entry.name])
      const shown = this.given.get(key) ?? this.choose(entry, counts.get(entry.name) ?? 0)
      this.given.set(key, shown)
      this.entries.set(shown, entry)
      return shown
    })
  }

  /** Returns the entry that has a name in the list, or had it in an earlier one. */
  find(shown: string): Entry<M> | undefined {
    return this.entries.get(shown)
  }

  private choose({ member, name, isOurs }: Entry<M>, count: number): string {
    const isFree = (wanted: string) => !this.entries.has(wanted) && (isOurs || !this.reserved.has(wanted))
    if (count <= 1 && isFree(name)) return name
    const long = `${member.name.replace(OTHERS, '_')}_${name}`
    let shown = long
    for (let number = 2; !isFree(shown); number += 1) shown = `${long}_${number}`
    return shown
  }
}
