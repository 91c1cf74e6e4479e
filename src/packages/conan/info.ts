/** What `conaninfo.txt` says of a package, for searches. */
export interface ConanInfo {
  readonly settings: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, string>>
  readonly full_requires: readonly string[]
  readonly recipe_hash: string
  /** The file itself, which newer clients read. */
  readonly content: string
}

/** Reads its sections; a line that is neither a section nor in one is passed over. */
export function readConanInfo(content: string): ConanInfo {
  const sections = new Map<string, string[]>()
  let lines: string[] | undefined
  for (const raw of content.split('\n')) {
    const line = raw.trim()
    const [, name] = /^\[(\w+)\]$/.exec(line) ?? []
    if (name !== undefined) {
      lines = []
      sections.set(name, lines)
    } else if (line !== '') lines?.push(line)
  }
  const pairs = (name: string) =>
    Object.fromEntries(
      (sections.get(name) ?? []).flatMap((line) => {
        const at = line.search(/[=:]/)
        return at > 0 ? [[line.slice(0, at).trim(), line.slice(at + 1).trim()]] : []
      }),
    )
  return {
    settings: pairs('settings'),
    options: pairs('options'),
    full_requires: sections.get('full_requires') ?? sections.get('requires') ?? [],
    recipe_hash: sections.get('recipe_hash')?.[0] ?? '',
    content,
  }
}
