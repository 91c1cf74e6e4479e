import { z } from 'zod'
import { sshUrl } from '../../base/config.ts'
import type { Ctx } from '../../ctx.ts'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import type { SnippetRow } from './queries.ts'

/** A snippet on the wire (docs/contract/D §1.30). */
export const snippetEntity = z.strictObject({
  id: z.int(),
  title: z.string(),
  description: z.string().nullable(),
  visibility: z.enum(['private', 'internal', 'public']),
  author: userBasicEntity.nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  project_id: z.int().nullable(),
  web_url: z.string(),
  raw_url: z.string(),
  ssh_url_to_repo: z.string(),
  http_url_to_repo: z.string(),
  file_name: z.string(),
  files: z.array(z.strictObject({ path: z.string(), raw_url: z.string() })),
  imported: z.boolean(),
  imported_from: z.string(),
})

export type SnippetEntity = z.input<typeof snippetEntity>

export type ListedSnippet = SnippetRow & { readonly project_path: string | null }

/** The page of a snippet. */
export function snippetUrl(
  ctx: Pick<Ctx, 'config'>,
  row: Pick<ListedSnippet, 'id' | 'project_path'>,
): string {
  const { externalUrl } = ctx.config
  const above = row.project_path === null ? externalUrl : `${externalUrl}/${row.project_path}`
  return `${above}/-/snippets/${row.id}`
}

/** The paths of its files, as they were when its branch last moved. */
export function filesOf(row: Pick<SnippetRow, 'files'>): string[] {
  return JSON.parse(row.files) as string[] // written by us as a list of texts
}

export async function presentSnippets(
  ctx: Ctx,
  rows: readonly ListedSnippet[],
): Promise<SnippetEntity[]> {
  const authors = await usersById(
    ctx,
    rows.map((row) => row.author_id),
  )
  const { externalUrl } = ctx.config
  return rows.map((row) => {
    const url = snippetUrl(ctx, row)
    const paths = filesOf(row)
    const branch = encodeURIComponent(row.branch ?? 'main')
    const address = `${row.project_path === null ? '' : `${row.project_path}/`}snippets/${row.id}.git`
    return {
      id: row.id,
      title: row.title,
      description: row.description,
      visibility: row.visibility,
      author: authors.get(row.author_id) ?? null,
      created_at: row.created_at,
      updated_at: row.updated_at,
      project_id: row.project_id,
      web_url: url,
      raw_url: `${url}/raw`,
      ssh_url_to_repo: sshUrl(ctx.config, address),
      http_url_to_repo: `${externalUrl}/${address}`,
      file_name: paths[0] ?? '',
      files: paths.map((path) => ({
        path,
        raw_url: `${url}/raw/${branch}/${path.split('/').map(encodeURIComponent).join('/')}`,
      })),
      imported: false,
      imported_from: 'none',
    }
  })
}
