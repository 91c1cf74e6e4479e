import { z } from 'zod'
import { onEither, readEither } from '../../access/sources.ts'
import { signedIn } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { invalid, invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, text } from '../../http/params.ts'
import { callerId, getUser } from '../../identity/users/find-user.ts'
import { listPage } from '../../store/pages.ts'
import { inTransaction } from '../../store/transaction.ts'
import { type EffectiveSetting, readEvents, stillVerified } from './effective.ts'
import {
  EVENTS,
  type EventChoices,
  GROUP_EVENTS,
  isChosen,
  LEVELS,
  type NotificationEvent,
} from './levels.ts'
import {
  EVERYWHERE,
  findSetting,
  isVerifiedAddress,
  listOwnSettings,
  type Place,
  saveSetting,
} from './queries.ts'

const eventsEntity = z.partialRecord(z.enum(GROUP_EVENTS), z.boolean().nullable())
const placeEntity = z.strictObject({ level: z.enum(LEVELS), events: eventsEntity.optional() })
const globalEntity = placeEntity.extend({ notification_email: z.string() })

/** Flags of every event, so that clients of all three routes may send all; null is the default again. */
const eventParams = Object.fromEntries(
  GROUP_EVENTS.map((event) => [event, flag().nullish()]),
) as Record<NotificationEvent, z.ZodOptional<z.ZodNullable<z.ZodType<boolean>>>>

const settingBody = { level: text({ max: 1000 }).optional(), ...eventParams }

type SettingBody = { readonly level?: string | undefined } & Readonly<
  Partial<Record<NotificationEvent, boolean | null | undefined>>
>

async function readSetting(ctx: Ctx, place: Place): Promise<EffectiveSetting> {
  const row = await findSetting(ctx.db, callerId(ctx), place)
  if (!row) {
    const level = place.type === 'instance' ? 'participating' : 'global'
    return { level, events: {}, email: null }
  }
  const email = await stillVerified(ctx.db, row.user_id, row.notification_email)
  return { level: row.level, events: readEvents(row), email }
}

function presentEvents(events: EventChoices, place: Place) {
  const names = place.type === 'group' ? GROUP_EVENTS : EVENTS
  return Object.fromEntries(
    names.map((event) => [event, isChosen(events, event) || (events[event] ?? null)]),
  )
}

function present(setting: EffectiveSetting, place: Place): z.input<typeof placeEntity> {
  const { level, events } = setting
  return level === 'custom' ? { level, events: presentEvents(events, place) } : { level }
}

function levelOf(asked: string | undefined): EffectiveSetting['level'] | undefined {
  if (asked === undefined) return undefined
  const level = LEVELS.find((one) => one === asked)
  if (level === undefined) throw invalidText(`'${asked}' is not a valid level`)
  return level
}

/** Keeps what was not sent; sending events does not change the level (docs/contract/A-resolved §13). */
async function changeSetting(
  ctx: Ctx,
  place: Place,
  body: SettingBody,
  email?: string | null,
): Promise<EffectiveSetting> {
  const level = levelOf(body.level)
  return inTransaction(ctx, async (inner) => {
    const before = await readSetting(inner, place)
    const sent = GROUP_EVENTS.filter((event) => body[event] !== undefined)
    const after = {
      level: level ?? before.level,
      events: {
        ...before.events,
        ...Object.fromEntries(sent.map((event) => [event, body[event]])),
      },
      email: email === undefined ? before.email : email,
    }
    await saveSetting(inner.db, {
      user_id: callerId(inner),
      source_type: place.type,
      source_id: place.id,
      level: after.level,
      events: JSON.stringify(after.events),
      notification_email: after.email,
      updated_at: inner.now(),
    })
    return after
  })
}

async function presentGlobal(
  ctx: Ctx,
  setting: EffectiveSetting,
): Promise<z.input<typeof globalEntity>> {
  const address = setting.email ?? (await getUser(ctx, callerId(ctx))).email
  return { ...present(setting, EVERYWHERE), notification_email: address }
}

export const getGlobalSetting = endpoint({
  method: 'GET',
  path: '/notification_settings',
  summary: "Get the caller's notification settings",
  access: signedIn(),
  response: globalEntity,
  handler: async ({ ctx }) => presentGlobal(ctx, await readSetting(ctx, EVERYWHERE)),
})

export const putGlobalSetting = endpoint({
  method: 'PUT',
  path: '/notification_settings',
  summary: "Change the caller's notification settings",
  access: signedIn(),
  body: { ...settingBody, notification_email: text({ max: 1000 }).nullish() },
  response: globalEntity,
  async handler({ ctx, body }) {
    const email = body.notification_email === '' ? null : body.notification_email
    if (email && !(await isVerifiedAddress(ctx.db, callerId(ctx), email))) {
      throw invalid({ notification_email: ['must be an email you have verified'] })
    }
    return presentGlobal(ctx, await changeSetting(ctx, EVERYWHERE, body, email))
  },
})

const sourceEntity = placeEntity.extend({
  source_type: z.enum(['project', 'group']),
  source_id: z.int(),
  source_path: z.string(),
  source_name: z.string(),
})

export const listOwnSourceSettings = endpoint({
  method: 'GET',
  path: '/notification_settings/sources',
  summary:
    "List the projects and groups for which the caller's notification settings differ from the global ones",
  access: signedIn(),
  paginate: 'offset',
  response: z.array(sourceEntity),
  async handler({ ctx, page }) {
    const found = await listPage(
      ctx.db,
      listOwnSettings(ctx.db, callerId(ctx), viewerOf(ctx)),
      page,
    )
    return {
      ...found,
      items: found.items.map(({ source_type, source_id, path, name, level, ...row }) => {
        const type = source_type === 'group' ? ('group' as const) : ('project' as const)
        const setting = { level, events: readEvents(row), email: null }
        return {
          ...{ source_type: type, source_id, source_path: path, source_name: name },
          ...present(setting, { type, id: source_id }),
        }
      }),
    }
  },
})

const order = { signedIn: true, validateFirst: true } as const

export const getSourceSetting = endpoint({
  method: 'GET',
  path: '/:source/:id/notification_settings',
  summary: "Get the caller's notification settings in a project or group",
  access: onEither(readEither, order),
  response: placeEntity,
  handler: async ({ ctx, source }) => present(await readSetting(ctx, source), source),
})

export const putSourceSetting = endpoint({
  method: 'PUT',
  path: '/:source/:id/notification_settings',
  summary: "Change the caller's notification settings in a project or group",
  access: onEither(readEither, order),
  body: settingBody,
  response: placeEntity,
  handler: async ({ ctx, source, body }) => present(await changeSetting(ctx, source, body), source),
})
