import { csv, file, oneOf, text } from '../../http/params.ts'
import { imageCleanupParam } from './image-cleanup.ts'
import { legacyParams, projectSettingParams } from './settings.ts'

/** What creation and update take alike (docs/contract/D §1.2). */
export const projectBodyParams = {
  description: text().nullable().optional(),
  visibility: oneOf(['private', 'internal', 'public']).optional(),
  default_branch: text().optional(),
  tag_list: csv(text()).optional(),
  topics: csv(text()).optional(),
  avatar: file()
    .or(text({ max: 0 }))
    .nullable()
    .optional(),
  container_expiration_policy_attributes: imageCleanupParam,
  ...projectSettingParams,
  ...legacyParams,
} as const
