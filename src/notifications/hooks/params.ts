import { filledText, flag, hash, list, oneOf, text } from '../../http/params.ts'
import { GROUP_FLAGS, type HookFlag, PROJECT_FLAGS, SYSTEM_FLAGS } from './hook-events.ts'

function flagParams<const F extends readonly HookFlag[]>(names: F) {
  const optional = flag().optional()
  const shape = Object.fromEntries(names.map((name) => [name, optional]))
  return shape as { readonly [K in F[number]]: typeof optional } // the keys are those of `names`
}

const pairs = list(hash({ key: text({ max: 255 }), value: text({ max: 2048 }) }), { max: 100 })

/** What hooks of all kinds take alike. */
export const hookFields = {
  name: text({ max: 255 }).nullish(),
  description: text({ max: 2048 }).nullish(),
  token: text({ max: 2048 }).nullish(),
  enable_ssl_verification: flag().optional(),
  push_events_branch_filter: text({ max: 5000 }).nullish(),
  branch_filter_strategy: oneOf(['wildcard', 'regex', 'all_branches']).optional(),
  custom_webhook_template: text({ max: 4096 }).nullish(),
  custom_headers: pairs.optional(),
  url_variables: pairs.optional(),
}
const url = filledText({ max: 2048 })

export const hookBodies = {
  project: { ...hookFields, ...flagParams(PROJECT_FLAGS) },
  group: { ...hookFields, ...flagParams(GROUP_FLAGS) },
  system: { ...hookFields, ...flagParams(SYSTEM_FLAGS) },
}
export const newUrl = { url }
export const otherUrl = { url: url.optional() }
