import type { ApiAnswer } from '../http/pipeline-parts.ts'

/** The answer to clients of the version before ours, whatever they ask (docs/contract/A-resolved §1). */
export async function oldApi(): Promise<ApiAnswer> {
  const error = 'API V3 is no longer supported. Use API V4 instead.'
  return {
    status: 410,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ error }),
  }
}
