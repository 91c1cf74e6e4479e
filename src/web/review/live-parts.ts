import type { RequestState } from '../../review/merge-requests/live/queries.ts'

/** The parts of the page of a merge request that follow it, by their ids. */
export const liveParts = [
  'request-summary',
  'request-state',
  'request-threads',
  'request-side',
] as const

export type LivePart = (typeof liveParts)[number]

const following: Readonly<Record<keyof RequestState, readonly LivePart[]>> = {
  state: ['request-summary', 'request-state', 'request-side'],
  // Open threads may stand in the way of a merge.
  notes: ['request-threads', 'request-state'],
}

/** Which parts have to be drawn again. */
export function partsOf(changed: readonly (keyof RequestState)[]): LivePart[] {
  return [...new Set(changed.flatMap((one) => following[one]))]
}
