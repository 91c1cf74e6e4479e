/** A line of a changelog. References are full, e.g. `group/project@<sha>` (docs/contract/B-resolved §1.8). */
export interface ChangelogEntry {
  readonly title: string
  readonly commit: {
    readonly reference: string
    readonly web_url: string
    readonly trailers: Readonly<Record<string, string>>
  }
  readonly author?:
    | {
        readonly reference: string
        /** Not a member of the project. */
        readonly contributor: boolean
        /** A contributor, or a member of an `include_groups` group. */
        readonly credit: boolean
      }
    | undefined
  readonly merge_request?: { readonly reference: string; readonly web_url: string } | undefined
}

export interface ChangelogCategory {
  readonly title: string
  readonly count: number
  readonly single_change: boolean
  readonly entries: readonly ChangelogEntry[]
}

/** An entry and the trailer value that says where it belongs. */
export interface CategorizedEntry {
  readonly category: string
  readonly entry: ChangelogEntry
}

/**
 * Sorts entries into categories: mapped names in the order of the configuration, then others in order
 * of first use; empty ones are dropped (docs/contract/B-resolved §1.8 rule 5).
 */
export function categorize(
  entries: readonly CategorizedEntry[],
  names: ReadonlyMap<string, string>,
): ChangelogCategory[] {
  const groups = new Map<string, ChangelogEntry[]>()
  for (const title of names.values()) groups.set(title, [])
  for (const { category, entry } of entries) {
    const title = names.get(category) ?? category
    const group = groups.get(title)
    if (group) group.push(entry)
    else groups.set(title, [entry])
  }
  return [...groups]
    .filter(([, list]) => list.length > 0)
    .map(([title, list]) => ({
      title,
      count: list.length,
      single_change: list.length === 1,
      entries: list,
    }))
}

/**
 * A commit's title as an entry shows it: over 100 characters it is cut near 80, at a space where
 * there is one (docs/contract/B-resolved §1.8 rule 6).
 */
export function entryTitle(title: string): string {
  const characters = [...title]
  if (characters.length <= 100) return title
  const start = characters.slice(0, 79).join('')
  const space = start.lastIndexOf(' ')
  return `${space > 60 ? start.slice(0, space) : start}…`
}

const revertLine = /^This reverts commit ([0-9a-f]{64}|[0-9a-f]{40})/im

/** The commit that a message says it takes back. */
function revertedBy(message: string): string | undefined {
  return revertLine.exec(message)?.[1]?.toLowerCase()
}

/**
 * Drops commits that a newer one of the list takes back; a revert that was itself taken back has no
 * effect. The list is newest first (docs/contract/B-resolved §1.8 rule 4).
 */
export function withoutReverted<C extends { readonly id: string; readonly message: string }>(
  commits: readonly C[],
): C[] {
  const reverted = new Set<string>()
  return commits.filter((commit) => {
    if (reverted.has(commit.id)) return false
    const target = revertedBy(commit.message)
    if (target !== undefined) reverted.add(target)
    return true
  })
}
