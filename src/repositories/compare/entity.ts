import { z } from 'zod'
import { commitEntity } from '../commits/entity.ts'
import { diffEntity } from '../repository/diff-entity.ts'

export const comparisonEntity = z.strictObject({
  commit: commitEntity.nullable(),
  commits: z.array(commitEntity),
  diffs: z.array(diffEntity),
  /** A limit was passed and the list ends early (docs/contract/B-resolved §1.5). */
  compare_timeout: z.boolean(),
  compare_same_ref: z.boolean(),
  web_url: z.string(),
})
