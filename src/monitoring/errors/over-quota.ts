import { Problem } from '../../base/problem.ts'

/** 429 that says for how many seconds, in the words that reporting programs understand (docs/contract/C-resolved §2.3). */
export function overQuota(seconds: number): Problem {
  const headers = {
    'Retry-After': String(seconds),
    'X-Sentry-Rate-Limits': `${seconds}:error;default:key`,
  }
  return new Problem('too_many', 429, { message: '429 Too Many Requests' }, { headers })
}
