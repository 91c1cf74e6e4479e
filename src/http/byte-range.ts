import type { RequestFacts } from './endpoint.ts'

export interface ByteRange {
  readonly start: number
  /** The last byte, itself included. */
  readonly end: number
}

/**
 * What a `Range` header asks of `size` bytes. Several ranges, other units and broken headers count as none (RFC 9110
 * §14.2), as does a range of another version named by `If-Range`.
 */
export function readRange(
  headers: RequestFacts['headers'],
  size: number,
  tag: string,
): ByteRange | 'whole' | 'unsatisfiable' {
  const condition = headers['if-range']
  if (condition !== undefined && condition !== tag) return 'whole'
  const given = headers.range
  const [, first, last] =
    typeof given === 'string' ? (/^bytes=(\d{0,15})-(\d{0,15})$/.exec(given.trim()) ?? []) : []
  if (first === undefined || last === undefined || first + last === '') return 'whole'
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(last) < start) return 'whole'
  return start > end ? 'unsatisfiable' : { start, end }
}
