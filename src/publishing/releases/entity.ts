import { z } from 'zod'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { milestoneEntity } from '../../planning/milestones/entity.ts'
import { commitEntity } from '../../repositories/commits/entity.ts'
import type { RowOf } from '../../store/schema.ts'

export const LINK_TYPES = ['other', 'runbook', 'image', 'package'] as const

export const linkEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  url: z.string(),
  direct_asset_url: z.string(),
  link_type: z.enum(LINK_TYPES),
})

/** Proof of what a release said; `filepath` is where the whole text is read. */
export const evidenceEntity = z.strictObject({
  sha: z.string(),
  filepath: z.string(),
  collected_at: z.string(),
})

/** A release (docs/contract/D §1.6 Fields). */
export const releaseEntity = z.strictObject({
  tag_name: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  /** Only where it was asked for. */
  description_html: z.string().optional(),
  created_at: z.string(),
  released_at: z.string(),
  upcoming_release: z.boolean(),
  author: userBasicEntity.nullable(),
  commit: commitEntity.nullable(),
  milestones: z.array(
    milestoneEntity.extend({ issue_stats: z.strictObject({ total: z.int(), closed: z.int() }) }),
  ),
  commit_path: z.string().nullable(),
  tag_path: z.string(),
  assets: z.strictObject({
    count: z.int(),
    sources: z.array(z.strictObject({ format: z.string(), url: z.string() })),
    links: z.array(linkEntity),
  }),
  evidences: z.array(evidenceEntity),
  _links: z.strictObject({
    closed_issues_url: z.string(),
    closed_merge_requests_url: z.string(),
    edit_url: z.string(),
    merged_merge_requests_url: z.string(),
    opened_issues_url: z.string(),
    opened_merge_requests_url: z.string(),
    self: z.string(),
  }),
})

export type LinkRow = RowOf<'release_links'>

/** `downloads` is where direct paths of the release are served below. */
export function presentLink(row: LinkRow, downloads: string): z.input<typeof linkEntity> {
  const direct = row.filepath === null ? row.url : downloads + row.filepath
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    direct_asset_url: direct,
    link_type: row.link_type,
  }
}
