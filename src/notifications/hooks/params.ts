import { filledText, flag, hash, list, oneOf, text } from '../../http/params.ts'
import { byFlag, GROUP_FLAGS, PROJECT_FLAGS, SYSTEM_FLAGS } from './hook-events.ts'

const said = () => flag().optional()
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
  project: { ...hookFields, ...byFlag(PROJECT_FLAGS, said) },
  group: { ...hookFields, ...byFlag(GROUP_FLAGS, said) },
  system: { ...hookFields, ...byFlag(SYSTEM_FLAGS, said) },
}
export const newUrl = { url }
export const otherUrl = { url: url.optional() }
