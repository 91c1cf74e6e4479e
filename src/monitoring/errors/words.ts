/** What may become of an error; the table keeps the places. */
export const errorStatuses = ['unresolved', 'resolved', 'ignored'] as const
export type ErrorStatus = (typeof errorStatuses)[number]

export const UNRESOLVED = 0
export const RESOLVED = 1

export function errorStatusOf(place: number): ErrorStatus {
  return errorStatuses[place] ?? 'unresolved'
}
