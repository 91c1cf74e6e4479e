import { z } from 'zod'
import { audit } from '../../access/audit.ts'
import { PLAN_LIMITS, planLimits } from '../../access/plan-limits.ts'
import type { SettingValues } from '../../access/setting-definitions.ts'
import { onInstance } from '../../access/subjects.ts'
import { hidden, invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, integer, oneOf, text } from '../../http/params.ts'
import { acceptTerms } from '../../identity/terms/accept-terms.ts'
import { readStatistics, STATISTICS } from './queries.ts'
import { sentSettings, settingParams, settingsEntity } from './setting-fields.ts'

const instance = { type: 'Instance', id: 1 } as const

export const getSettings = endpoint({
  method: 'GET',
  path: '/application/settings',
  summary: 'Get the settings of the instance',
  access: onInstance(),
  response: settingsEntity,
  handler: ({ ctx }) => ({ ...ctx.settings.all }),
})

export const putSettings = endpoint({
  method: 'PUT',
  path: '/application/settings',
  summary: 'Change settings of the instance; they count at once',
  access: onInstance(),
  body: settingParams,
  response: settingsEntity,
  async handler({ ctx, body, request }) {
    const changes = sentSettings(body, request.sent)
    assertTerms(ctx, { ...ctx.settings.all, ...changes })
    await ctx.settings.change(ctx.db, changes)
    // Whoever writes them is not to be shut out by them.
    if ('terms' in changes || 'enforce_terms' in changes) await acceptTerms(ctx)
    const changed = Object.keys(changes).join(', ')
    await audit(ctx, { entity: instance, action: 'settings_changed', details: { changed } })
    return { ...ctx.settings.all }
  },
})

/** People can accept only what is written, and only on a page. */
function assertTerms({ config }: Ctx, { enforce_terms: enforced, terms }: SettingValues): void {
  if (!enforced) return
  if (terms === null || terms.trim() === '') throw invalid({ terms: ["can't be blank"] })
  if (config.pages === 'off') {
    throw invalid({ enforce_terms: ['needs pages, which GITSTEAD_PAGES switches off'] })
  }
}

/** The same for each of some names. */
function each<Name extends string, T>(names: readonly Name[], value: T): Record<Name, T> {
  return Object.fromEntries(names.map((name) => [name, value])) as Record<Name, T>
}

/** Digits with a comma every three, as the reference writes them. */
function digits(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

export const getStatistics = endpoint({
  method: 'GET',
  path: '/application/statistics',
  summary: 'Count what the instance holds',
  access: onInstance(),
  response: z.strictObject(each(STATISTICS, z.string())),
  async handler({ ctx }) {
    const shown = each(STATISTICS, '')
    const counts = await readStatistics(ctx.db)
    for (const name of STATISTICS) shown[name] = digits(counts[name])
    return shown
  },
})

const appearanceTexts = [
  'title',
  'description',
  'pwa_name',
  'pwa_short_name',
  'pwa_description',
  'member_guidelines',
  'new_project_guidelines',
  'profile_image_guidelines',
  'header_message',
  'footer_message',
  'message_background_color',
  'message_font_color',
] as const

const appearanceEntity = z.strictObject({
  ...each(appearanceTexts, z.string()),
  email_header_and_footer_enabled: z.boolean(),
  logo: z.string().nullable(),
  pwa_icon: z.string().nullable(),
  header_logo: z.string().nullable(),
  favicon: z.string().nullable(),
})

type Appearance = z.input<typeof appearanceEntity>

const plainAppearance: Appearance = {
  ...each(appearanceTexts, ''),
  message_background_color: '#E75E40',
  message_font_color: '#FFFFFF',
  email_header_and_footer_enabled: false,
  logo: null,
  pwa_icon: null,
  header_logo: null,
  favicon: null,
}

const APPEARANCE = 'appearance'

/** Saves what was sent over what a document of the settings holds, and gives both. */
async function changeDocument<T>(ctx: Ctx, name: string, body: object): Promise<Partial<T>> {
  const sent = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
  return await ctx.settings.changeDocument(
    ctx.db,
    name,
    (known) => ({ ...(known as Partial<T> | undefined), ...sent }) as Partial<T>, // written here
  )
}

export const getAppearance = endpoint({
  method: 'GET',
  path: '/application/appearance',
  summary: 'Get what the instance looks like',
  access: onInstance(),
  response: appearanceEntity,
  handler: ({ ctx }) => ({
    ...plainAppearance,
    ...(ctx.settings.document(APPEARANCE) as Partial<Appearance> | undefined), // written below
  }),
})

export const putAppearance = endpoint({
  method: 'PUT',
  path: '/application/appearance',
  summary: 'Change what the instance looks like',
  access: onInstance(),
  body: {
    ...each(appearanceTexts, text({ max: 100_000 }).optional()),
    email_header_and_footer_enabled: flag().optional(),
  },
  response: appearanceEntity,
  async handler({ ctx, body }) {
    const changed = await changeDocument<Appearance>(ctx, APPEARANCE, body)
    await audit(ctx, { entity: instance, action: 'appearance_changed' })
    return { ...plainAppearance, ...changed }
  },
})

type PlanLimits = { [K in keyof typeof planLimits]: number }
const limitNames = Object.keys(planLimits) as (keyof PlanLimits)[]

const planLimitsEntity = z.strictObject(each(limitNames, z.int()))

const plans = ['default', 'free', 'bronze', 'silver', 'premium', 'gold', 'ultimate'] as const

export const getPlanLimits = endpoint({
  method: 'GET',
  path: '/application/plan_limits',
  summary: 'Get the limits of the plan',
  access: onInstance(),
  query: { plan_name: oneOf(plans).optional() },
  response: planLimitsEntity,
  handler: ({ ctx }) => ({
    ...planLimits,
    ...(ctx.settings.document(PLAN_LIMITS) as Partial<PlanLimits> | undefined), // written below
  }),
})

export const putPlanLimits = endpoint({
  method: 'PUT',
  path: '/application/plan_limits',
  summary: 'Change the limits of the plan',
  access: onInstance(),
  body: {
    plan_name: oneOf(plans),
    ...each(limitNames, integer({ min: 0 }).optional()),
  },
  response: planLimitsEntity,
  async handler({ ctx, body }) {
    const { plan_name: _, ...limits } = body
    const changed = await changeDocument<PlanLimits>(ctx, PLAN_LIMITS, limits)
    await audit(ctx, { entity: instance, action: 'plan_limits_changed' })
    return { ...planLimits, ...changed }
  },
})

export const getLicense = endpoint({
  method: 'GET',
  path: '/license',
  summary: 'Get the licence of the instance; there is none, and none is needed',
  access: onInstance(),
  response: z.null(),
  handler: () => {
    throw hidden()
  },
})
