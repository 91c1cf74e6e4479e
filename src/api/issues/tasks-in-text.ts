/** How many check-list items a description holds, and how many are ticked. */
export function countTasks(text: string | null): { count: number; completed_count: number } {
  let count = 0
  let completed = 0
  let fenced = false
  for (const line of (text ?? '').split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced
    const item = fenced ? null : /^\s*(?:[-*+]|\d{1,9}[.)])\s+\[([ xX])\]\s/.exec(`${line} `)
    if (!item) continue
    count += 1
    if (item[1] !== ' ') completed += 1
  }
  return { count, completed_count: completed }
}
