import { constants, getPriority, setPriority } from 'node:os'

/** How far the server goes before the programs that it starts, where the system lets it. */
const ahead = 5
let isAhead = false

/**
 * Lets this process go before those that it starts: it hands out their work, and a crowd of them must not keep it from
 * the processor. Most systems allow it to the super-user only; the rest stays as it was.
 */
export function raiseOwnPriority(): void {
  try {
    setPriority(Math.max(getPriority() - ahead, constants.priority.PRIORITY_HIGHEST))
    isAhead = true
  } catch {
    // Not allowed here.
  }
}

/** Gives a process just started the priority that this one began with, lowered by `by`: it inherits ours. */
export function lowerPriority(pid: number | undefined, by = 0): void {
  const priority = (isAhead ? ahead : 0) + by
  if (pid === undefined || priority === 0) return
  try {
    // From our own on: whoever runs the server chose that.
    setPriority(pid, Math.min(getPriority() + priority, constants.priority.PRIORITY_LOW))
  } catch {
    // It ended already, or the system does not let us; both are fine.
  }
}
