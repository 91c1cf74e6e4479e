import { GraphQLError } from 'graphql'
import type { Window } from './queries.ts'

/** How a client asks for a part of a list. */
export interface Slice {
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
}

const MOST = 100
/** Records of all lists of a query: a list may stand in it under hundreds of names. */
const MOST_OF_QUERY = 1000
/** What a list counts for that asks for fewer: it is looked for, and may be counted, all the same. */
const LEAST = 10

/** How many records a query may still list. */
export class RecordBudget {
  #left = MOST_OF_QUERY

  /** Throws where that is too many. */
  take(records: number): void {
    this.#left -= records
    if (this.#left < 0) throw new GraphQLError(`Query lists more than ${MOST_OF_QUERY} records`)
  }
}

/** One row more than is shown says whether others follow. */
export function windowOf(slice: Slice, budget: RecordBudget): Window {
  const first = slice.first ?? MOST
  if (first < 0) throw new GraphQLError('first must not be negative')
  budget.take(Math.max(LEAST, Math.min(first, MOST)))
  const after = slice.after ? Buffer.from(slice.after, 'base64url').toString() : undefined
  if (after !== undefined && !/^\d{1,15}$/.test(after)) throw new GraphQLError('after is no cursor')
  return {
    limit: Math.min(first, MOST) + 1,
    after: after === undefined ? undefined : Number(after),
  }
}

function cursorOf(row: { readonly id: number }): string {
  return Buffer.from(String(row.id)).toString('base64url')
}

/** A part of a list as clients walk through it. */
export function connection<R extends { readonly id: number }, N>(
  { rows, count }: { readonly rows: readonly R[]; readonly count: () => Promise<number> },
  window: Window,
  present: (row: R) => N,
) {
  const shown = rows.slice(0, window.limit - 1)
  const [first, last] = [shown[0], shown.at(-1)]
  return {
    nodes: shown.map(present),
    edges: shown.map((row) => ({ node: present(row), cursor: cursorOf(row) })),
    pageInfo: {
      hasNextPage: rows.length > shown.length,
      hasPreviousPage: window.after !== undefined,
      startCursor: first ? cursorOf(first) : null,
      endCursor: last ? cursorOf(last) : null,
    },
    count,
  }
}
