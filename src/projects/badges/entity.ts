import { z } from 'zod'
import type { RowOf } from '../../store/schema.ts'

export const badgeEntity = z.strictObject({
  name: z.string().nullable(),
  link_url: z.string(),
  image_url: z.string(),
  rendered_link_url: z.string(),
  rendered_image_url: z.string(),
  id: z.int(),
  kind: z.enum(['project', 'group']),
})

/** What rendering answers: a badge that is not stored (docs/contract/B-resolved §10). */
export const renderedBadgeEntity = badgeEntity.omit({ id: true, kind: true })

type BadgeRow = RowOf<'badges'>

/** `render` fills the placeholders of a URL for the project that is looked at. */
export function presentBadge(
  row: BadgeRow,
  render: (url: string) => string,
): z.input<typeof badgeEntity> {
  return {
    ...presentRendered(row, render),
    id: row.id,
    kind: row.project_id === null ? 'group' : 'project',
  }
}

export function presentRendered(
  row: Pick<BadgeRow, 'name' | 'link_url' | 'image_url'>,
  render: (url: string) => string,
): z.input<typeof renderedBadgeEntity> {
  return {
    name: row.name,
    link_url: row.link_url,
    image_url: row.image_url,
    rendered_link_url: render(row.link_url),
    rendered_image_url: render(row.image_url),
  }
}
