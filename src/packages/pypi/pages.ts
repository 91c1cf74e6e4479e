import type { Ctx } from '../../ctx.ts'
import { type ReadyDocument, readDocument, readyDocument } from '../registry/documents.ts'
import { type PageForm, page } from './page.ts'
import {
  type DistributionRow,
  listFiles,
  listNames,
  listProjectsWith,
  type PypiPlace,
} from './queries.ts'
import { metadataOf } from './wheel-metadata.ts'

const JSON_TYPE = 'application/vnd.pypi.simple.v1+json'

export const PAGE_TYPES: Readonly<Record<PageForm, string>> = {
  html: 'text/html; charset=utf-8',
  json: JSON_TYPE,
}

/** JSON only for those who ask for it by name: browsers and `*` get the page. */
export function formOf(accept: unknown): PageForm {
  const given = String(accept ?? '')
  return /application\/vnd\.pypi\.simple\.(v1|latest)\+json/.test(given) ? 'json' : 'html'
}

/** The names of a place, `root` being the address below which they are. */
export async function readIndex(
  ctx: Ctx,
  place: PypiPlace & { readonly title: string },
  root: string,
  form: PageForm,
): Promise<ReadyDocument> {
  const rows = await listNames(ctx, place)
  const names = rows.map((row) => ({ key: row.name_key, name: row.name }))
  return await readyDocument(
    form === 'json'
      ? JSON.stringify({
          meta: { 'api-version': '1.0' },
          projects: names.map(({ name }) => ({ name })),
        })
      : page(
          place.title,
          names.map(({ key, name }) => ({ href: `${root}/simple/${key}/`, text: name })),
        ),
  )
}

/** The files of a name; nothing when the place has none. */
export async function readFiles(
  ctx: Ctx,
  place: PypiPlace,
  nameKey: string,
  form: PageForm,
): Promise<ReadyDocument | undefined> {
  if ('projectId' in place) {
    const { projectId } = place
    const key = { projectId, type: 'pypi', nameKey, form } as const
    return await readDocument(ctx, key, () => makeFiles(ctx, [projectId], nameKey, form))
  }
  const projectIds = await listProjectsWith(ctx, place, nameKey)
  const [only, ...others] = projectIds
  if (only === undefined) return undefined
  if (others.length === 0) return await readFiles(ctx, { projectId: only }, nameKey, form)
  const text = await makeFiles(ctx, projectIds, nameKey, form)
  return text === undefined ? undefined : readyDocument(text)
}

async function makeFiles(
  ctx: Ctx,
  projectIds: readonly number[],
  nameKey: string,
  form: PageForm,
): Promise<string | undefined> {
  const rows = await listFiles(ctx.db, projectIds, nameKey)
  const [first] = rows
  if (!first) return undefined
  if (form === 'html') {
    const links = rows.map((row) => {
      const { requires_python: requiresPython, core_metadata: core } = metadataOf(row)
      const href = `${urlOf(ctx, row)}#sha256=${row.file_sha256}`
      const metadata = core === undefined ? {} : { metadata: `sha256=${core.sha256}` }
      return { href, text: row.file_name, requiresPython, ...metadata }
    })
    return page(first.name, links)
  }
  const files = rows.map((row) => {
    const { requires_python: python, core_metadata: core } = metadataOf(row)
    return {
      filename: row.file_name,
      url: urlOf(ctx, row),
      hashes: { sha256: row.file_sha256 },
      ...(python ? { 'requires-python': python } : {}),
      ...(core === undefined ? {} : { 'core-metadata': { sha256: core.sha256 } }),
      size: row.size,
      'upload-time': row.created_at,
    }
  })
  return JSON.stringify({ meta: { 'api-version': '1.0' }, name: nameKey, files })
}

function urlOf(ctx: Pick<Ctx, 'config'>, row: DistributionRow): string {
  const root = `${ctx.config.externalUrl}/api/v4/projects/${row.project_id}/packages/pypi`
  return `${root}/files/${row.file_sha256}/${encodeURIComponent(row.file_name)}`
}
