import { randomUUID } from 'node:crypto'
import type { Source } from '../../access/sources.ts'
import type { Group, Project } from '../../access/subjects.ts'
import { findProjectWithRole } from '../../access/subjects.ts'
import { badParameters, unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { logDelivery } from './deliver.ts'
import { examples } from './examples.ts'
import type { HookPayload } from './fire.ts'
import { type HookEvent, type HookFlag, hookEvents } from './hook-events.ts'
import type { HookRow } from './queries.ts'
import { send } from './send.ts'
import { groupExamples } from './system-hooks.ts'
import { findFirstProjectId } from './system-queries.ts'

/** What the test of an instance's hook sends. */
export const systemExample = {
  event_name: 'project_create',
  name: 'Ruby',
  path: 'ruby',
  project_id: 1,
  owner_name: 'Someone',
  owner_email: 'example@example.com',
} as const

/** Whose hook is tried out, and with what. */
interface Trial {
  readonly source: Source
  readonly trigger: string
}

/**
 * Sends an example at once and waits for the answer. 422 when there is nothing to make it of, or when the receiver did not
 * take it. A hook that was resting works again after a test that went well.
 */
export async function testHook(
  ctx: Ctx,
  hook: HookRow,
  about: Trial | null,
  signal: AbortSignal,
): Promise<void> {
  const example = about ? await exampleOf(ctx, about) : null
  const delivery = {
    trigger: example?.flag ?? 'system',
    header: example?.header ?? 'System Hook',
    event_uuid: randomUUID(),
    idempotency_key: randomUUID(),
    payload: JSON.stringify(example?.payload ?? systemExample),
  }
  const outcome = await send(ctx, hook, delivery, signal)
  await logDelivery(ctx, hook, delivery, outcome)
  if (outcome.ok) return
  const what =
    outcome.status === 'internal error'
      ? outcome.body
      : `the receiver answered with status ${outcome.status}`
  throw unprocessable(`Hook execution failed: ${what}`)
}

/** The project that most examples for a group's hook are made of: its first with code. 422 when there is no project. */
async function projectForTest(ctx: Ctx, group: Group): Promise<Project> {
  const id = await findFirstProjectId(ctx.db, group.id)
  const project = id === undefined ? undefined : await findProjectWithRole(ctx, id)
  if (!project) throw unprocessable('Ensure the group has a project to make an example of.')
  return project
}

async function exampleOf(
  ctx: Ctx,
  { source, trigger }: Trial,
): Promise<{ flag: HookFlag; header: string; payload: HookPayload }> {
  const events = Object.keys(hookEvents) as HookEvent[] // the keys of a literal
  const event = events.find((name) => hookEvents[name].flag === trigger)
  const flag = event && hookEvents[event].flag
  if (!event || !flag) throw badParameters('trigger does not have a valid value')
  const payload = await payloadOf(ctx, source, event)
  if (!payload) throw unprocessable('Ensure the project has something to make an example of.')
  return { flag, header: hookEvents[event].header, payload }
}

async function payloadOf(
  ctx: Ctx,
  source: Source,
  event: HookEvent,
): Promise<HookPayload | undefined> {
  if (source.type === 'project') return await examples[event]?.(ctx, source)
  if (event === 'project' || event === 'subgroup' || event === 'member') {
    return await groupExamples[event](ctx, source.id)
  }
  return await examples[event]?.(ctx, await projectForTest(ctx, source))
}
