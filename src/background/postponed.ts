import type { Hold } from '../base/hold.ts'

/** Thrown by a task that must not run now, which is no fault: it is run again later, and that is no attempt. */
export class Postponed extends Error {
  readonly milliseconds: number

  constructor(reason: string, milliseconds: number) {
    super(reason)
    this.milliseconds = milliseconds
  }
}

const heldMs = 5 * 60_000

/** Puts a task off that removes what may still be wanted, as long as somebody wants that: a backup copies it. */
export function postponeWhileHeld(deletions: Hold): void {
  if (deletions.isHeld) throw new Postponed('a backup is being made', heldMs)
}
