export const states = ['ok', 'warning', 'failure'] as const

export type State = (typeof states)[number]

/** One thing that was looked at, and how it is. */
export interface Finding {
  readonly name: string
  readonly state: State
  readonly text: string
}

/** How a look is done. */
export interface Manner {
  /** Reads every object and every stored file. */
  readonly deep: boolean
  readonly mend: boolean
  readonly signal: AbortSignal
}

export function finding(name: string, state: State, text: string): Finding {
  return { name, state, text }
}

export function worstOf(findings: readonly Finding[]): State {
  const found = new Set(findings.map(({ state }) => state))
  return found.has('failure') ? 'failure' : found.has('warning') ? 'warning' : 'ok'
}
