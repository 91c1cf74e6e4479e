import { isDue } from '../../access/token-use.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import {
  findManager,
  type ManagerRow,
  type RunnerRow,
  saveManager,
  updateRunner,
} from './queries.ts'

/** What a runner program reports of itself. */
export interface RunnerInfo {
  readonly version?: string | undefined
  readonly revision?: string | undefined
  readonly platform?: string | undefined
  readonly architecture?: string | undefined
  readonly executor?: string | undefined
  readonly features?: Readonly<Record<string, unknown>> | undefined
}

/** Reads `info` of a request as far as it is of the right form; whatever else is there is left out. */
export function readRunnerInfo(value: unknown): RunnerInfo {
  const given = isObject(value) ? value : {}
  const text = (key: string) => {
    const found = given[key]
    return typeof found === 'string' ? found.slice(0, 255) : undefined
  }
  const features = isObject(given.features)
    ? Object.fromEntries(
        Object.entries(given.features)
          .filter(([, on]) => typeof on === 'boolean')
          .slice(0, 100),
      )
    : undefined
  return {
    version: text('version'),
    revision: text('revision'),
    platform: text('platform'),
    architecture: text('architecture'),
    executor: text('executor'),
    features,
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A machine without an id of its own cannot be distinguished. */
const NO_SYSTEM = '<legacy>'

/** Notes that a runner has asked, from which machine and with which program; at most once a minute unless that changes. */
export async function noteContact(
  ctx: Ctx,
  runner: RunnerRow,
  systemId: string | undefined,
  info: RunnerInfo,
): Promise<ManagerRow> {
  const system = systemId || NO_SYSTEM
  const known = await findManager(ctx.db, runner.id, system)
  const features = JSON.stringify(info.features ?? {})
  const isSame =
    known !== undefined &&
    known.ip_address === ctx.ip &&
    (info.version === undefined || known.version === info.version) &&
    (info.features === undefined || known.features === features)
  if (isSame && !isDue(known.contacted_at, ctx.now())) return known
  return await inTransaction(ctx, async (ctx) => {
    await updateRunner(ctx.db, runner.id, { contacted_at: ctx.now() })
    const { features: _, ...texts } = info
    const sent = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined))
    return await saveManager(ctx.db, {
      runner_id: runner.id,
      system_id: system,
      ...sent,
      ip_address: ctx.ip,
      ...(info.features === undefined ? {} : { features }),
      contacted_at: ctx.now(),
      created_at: known?.created_at ?? ctx.now(),
    })
  })
}
