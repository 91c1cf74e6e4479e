import { existing, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { onRelease } from './access.ts'
import { linkEntity } from './entity.ts'
import { listLinksOf, type ReleaseRow } from './queries.ts'

interface AssetCall {
  readonly ctx: Ctx
  readonly release: ReleaseRow
  readonly params: { readonly direct_asset_path: string }
}

/** What the endpoints that lead to an asset of a release have in common. */
export const asset = {
  method: 'GET',
  summary: 'Go to a file of a release by its direct path',
  access: onRelease(),
  jobToken: true,
  params: { direct_asset_path: text({ max: 1024 }) },
  response: linkEntity,
  async handler({ ctx, release, params }: AssetCall): Promise<never> {
    const links = await listLinksOf(ctx.db, [release.id])
    const link = existing(links.find((one) => one.filepath === `/${params.direct_asset_path}`))
    throw new Problem('moved', 302, '', { headers: { Location: link.url } })
  },
} as const

/** The asset at its `direct_asset_url`. */
export const getHostAsset = endpoint({
  ...asset,
  host: true,
  session: true,
  path: '/*id/-/releases/:tag_name/downloads/*direct_asset_path',
})
