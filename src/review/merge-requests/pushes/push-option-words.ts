/** Reads `merge_request.key=value` options (`mr.` for short); undefined when none is about merge requests. */
export function readPushOptions(options: readonly string[]) {
  const words = new Map<string, string[]>()
  for (const option of options) {
    const found = /^(?:merge_request|mr)\.([a-z_]+)(?:=([\s\S]*))?$/.exec(option)
    if (!found?.[1]) continue
    const values = words.get(found[1]) ?? []
    values.push(found[2] ?? '')
    words.set(found[1], values)
  }
  if (words.size === 0) return undefined
  const last = (name: string) => words.get(name)?.at(-1)
  const all = (name: string) => (words.get(name) ?? []).filter((value) => value !== '')
  const flag = (name: string) => {
    const value = last(name)
    return value === undefined ? undefined : !/^(?:false|0|no)$/i.test(value)
  }
  return {
    create: flag('create') ?? false,
    target: last('target') || undefined,
    targetProject: last('target_project') || undefined,
    title: last('title') || undefined,
    description: last('description')?.replaceAll('\\n', '\n'),
    draft: flag('draft') ?? false,
    labels: all('label'),
    unlabels: all('unlabel'),
    assign: all('assign'),
    unassign: all('unassign'),
    milestone: last('milestone') || undefined,
    autoMerge: flag('auto_merge') ?? flag('merge_when_pipeline_succeeds') ?? false,
    removeSourceBranch: flag('remove_source_branch'),
    squash: flag('squash'),
  }
}

/** What push options ask of merge requests (docs/contract/D §3.6). */
export type PushOptions = NonNullable<ReturnType<typeof readPushOptions>>

/** A title made of a branch's name, where a push gives none. */
export function titleOfBranch(branch: string): string {
  const plain = branch.replaceAll(/[-_]+/g, ' ').trim()
  return plain === '' ? branch : plain.charAt(0).toUpperCase() + plain.slice(1)
}
