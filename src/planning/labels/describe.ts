import type { Ctx } from '../../ctx.ts'
import { renderField } from '../../markdown/render.ts'
import type { LabelRow } from './entity.ts'

/** The descriptions of labels as HTML of one line, by the label's id. */
export async function describeLabels(
  ctx: Ctx,
  rows: readonly Pick<LabelRow, 'id' | 'description'>[],
): Promise<ReadonlyMap<number, string>> {
  const described = rows.filter((row) => row.description !== null && row.description !== '')
  const html = await Promise.all(
    described.map((row) => renderField(ctx, row.description, null, { inline: true })),
  )
  return new Map(described.map((row, at) => [row.id, html[at] ?? '']))
}
