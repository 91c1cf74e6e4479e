import { Cron } from 'croner'
import { z } from 'zod'
import { cronSchedule, type Schedule } from '../../background/schedule.ts'
import { task } from '../../background/task.ts'
import type { Config } from '../../base/config.ts'
import type { Ctx } from '../../ctx.ts'
import { mailUser } from '../../identity/mail/mail-user.ts'
import { inTransaction } from '../../store/transaction.ts'
import { listAdministrators } from '../backups/queries.ts'
import { runCommand } from '../backups/run-command.ts'
import { type Finding, states, worstOf } from './check/finding.ts'
import { findLastHealthCheck, insertHealthCheck } from './queries.ts'

const longestMs = 4 * 3_600_000
const kept = 400

export const findingEntity = z.strictObject({
  name: z.string(),
  state: z.enum(states),
  text: z.string(),
})

const answerOfDoctor = z.object({ findings: z.array(findingEntity) })

/**
 * Looks at the data once a day, by the command in a process of its own, and writes to administrators when something is
 * broken that was not broken, or not known to be, the time before.
 */
export const checkHealth = task({
  name: 'health.check',
  payload: z.object({}),
  lane: 'slow',
  attempts: 1,
  timeout: longestMs,
  async handler(ctx: Ctx, _payload, signal) {
    const started = ctx.now()
    const { end, answer, said } = await runCommand(ctx.config, ['doctor', '--json'], signal)
    signal.throwIfAborted()
    const findings = findingsIn(answer) ?? [
      { name: 'doctor', state: 'failure' as const, text: `ended with ${end}: ${said.trim()}` },
    ]
    const before = new Set(failuresIn(await findLastHealthCheck(ctx.db)))
    const failures = findings.filter(({ state }) => state === 'failure').map(lineOf)
    await inTransaction(ctx, async (ctx) => {
      const row = {
        state: worstOf(findings),
        started_at: started,
        finished_at: ctx.now(),
        findings: JSON.stringify(findings),
      }
      const id = await insertHealthCheck(ctx.db, row, kept)
      if (failures.some((line) => !before.has(line))) await reportFailures(ctx, id, failures)
    })
    if (failures.length > 0) ctx.log.error('data is damaged', { failures })
  },
})

function findingsIn(answer: string): readonly Finding[] | undefined {
  try {
    return answerOfDoctor.parse(JSON.parse(answer)).findings
  } catch {
    return undefined
  }
}

function failuresIn(row: { readonly findings: string } | undefined): string[] {
  if (!row) return []
  const findings = JSON.parse(row.findings) as Finding[] // written by us
  return findings.filter(({ state }) => state === 'failure').map(lineOf)
}

function lineOf({ name, text }: Finding): string {
  return `${name}: ${text}`
}

async function reportFailures(ctx: Ctx, id: number, failures: readonly string[]): Promise<void> {
  const text = `The daily look of Gitstead at its data has found:\n\n${failures.join('\n')}\n\ngitstead doctor shows more, and gitstead doctor --mend mends what can be mended.\n`
  for (const user of await listAdministrators(ctx.db)) {
    await mailUser(ctx, user, { subject: 'Something is broken', text, key: `health-${id}` })
  }
}

/** When the server looks at its data by itself. */
export function healthSchedules({ healthSchedule }: Config): Schedule[] {
  if (healthSchedule === 'off') return []
  const cron = new Cron(healthSchedule, { mode: '5-part', timezone: 'UTC', paused: true })
  return [
    cronSchedule(checkHealth, {}, (now) => {
      // Cron counts seconds.
      const after = new Date((Math.floor(Date.parse(now) / 1000) + 1) * 1000)
      return cron.previousRuns(1, after)[0]?.toISOString() ?? now
    }),
  ]
}
