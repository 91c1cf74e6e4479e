import { metric } from '../../base/metrics.ts'
import type { Db } from '../../store/schema.ts'
import { type Finding, states } from './check/finding.ts'
import { findLastHealthCheck } from './queries.ts'

/** What the last daily look at the data has found, for Prometheus; nothing before the first. */
export async function healthLines(db: Db): Promise<string[]> {
  const last = await findLastHealthCheck(db)
  if (!last) return []
  const findings = JSON.parse(last.findings) as Finding[] // written by the task
  const by = (count: (state: string) => number) =>
    Object.fromEntries(states.map((state) => [`state="${state}"`, count(state)]))
  const isLast = by((state) => (state === last.state ? 1 : 0))
  const counts = by((state) => findings.filter((one) => one.state === state).length)
  const at = Date.parse(last.finished_at) / 1000
  return [
    ...metric('gitstead_health_last_state', 'gauge', 'How the last daily look was', isLast),
    ...metric('gitstead_health_last_findings', 'gauge', 'What it has found', counts),
    ...metric('gitstead_health_last_timestamp_seconds', 'gauge', 'When it was', { '': at }),
  ]
}
