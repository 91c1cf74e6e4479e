/** An item of a check-list. */
interface TaskItem {
  readonly text: string
  readonly completed: boolean
}

/** The check-list items of a description, in their order; those in code are none. */
function tasksIn(text: string | null): TaskItem[] {
  const found: TaskItem[] = []
  let fenced = false
  for (const line of (text ?? '').split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced
    const item = fenced ? null : /^\s*(?:[-*+]|\d{1,9}[.)])\s+\[([ xX])\]\s(.*)/.exec(`${line} `)
    if (item) found.push({ text: (item[2] ?? '').trim(), completed: item[1] !== ' ' })
  }
  return found
}

/** How many check-list items a description holds, and how many are ticked. */
export function countTasks(text: string | null): { count: number; completed_count: number } {
  const tasks = tasksIn(text)
  return { count: tasks.length, completed_count: tasks.filter((one) => one.completed).length }
}

/** The items that were ticked or unticked, where they stood before; all else about them is the same. */
export function changedTasks(before: string | null, after: string | null): TaskItem[] {
  const old = tasksIn(before)
  return tasksIn(after).filter((task, at) => {
    const was = old[at]
    return was?.text === task.text && was.completed !== task.completed
  })
}
