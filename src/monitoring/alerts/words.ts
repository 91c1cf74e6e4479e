/** Severities, the most severe first; the table keeps their places. */
export const severities = ['critical', 'high', 'medium', 'low', 'info', 'unknown'] as const
export type Severity = (typeof severities)[number]

/** What may become of an alert; the table keeps the places. */
export const statuses = ['triggered', 'acknowledged', 'resolved', 'ignored'] as const
export type AlertStatus = (typeof statuses)[number]

export function severityOf(place: number): Severity {
  return severities[place] ?? 'unknown'
}

export function statusOf(place: number): AlertStatus {
  return statuses[place] ?? 'triggered'
}

export function placeOf<T>(words: readonly T[], word: T): number {
  return words.indexOf(word)
}

export const RESOLVED = placeOf(statuses, 'resolved')
