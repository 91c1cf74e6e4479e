import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { invalid, Problem } from '../../../base/problem.ts'
import { call } from '../../../http/call/call.ts'
import { file, type UploadedFile } from '../../../http/params.ts'
import { getProject } from '../../../projects/projects/endpoints.ts'
import { getRepositoryBranch } from '../../../repositories/branches/endpoints.ts'
import { getSingleCommit } from '../../../repositories/commits/endpoints.ts'
import { createRepositoryCommit } from '../../../repositories/commits/write-endpoints.ts'
import { pathOf, withQuery } from '../../address.ts'
import { actForm, type Sent } from '../../form.ts'
import { leaveFlash, type PageCtx } from '../../page-ctx.ts'
import type { ProjectData } from '../../project/frame.tsx'
import { type Place, placeAddress, placeOf } from '../place.ts'
import { editPages } from './edit.tsx'
import type { CommitAction, EditKind, Filled } from './edit-kinds.ts'
import { editsWhere, ownFork } from './own-fork.ts'

type EditSent = Sent<'/*project/-/edit/*ref_path'>

/** Texts that an editor sends, and files that a browser uploads; larger ones are pushed. */
const LARGEST_TEXT = 12 * 1024 * 1024
const LARGEST_FILE = 100 * 1024 * 1024

export const editForms = editPages.map(({ kind, page }) => {
  const sendsFile = kind.name === 'upload' || kind.name === 'replace'
  return actForm({
    address: `/*project/-/${kind.name}/*ref_path` as '/*project/-/edit/*ref_path',
    summary: `${kind.title}: commits a change of files`,
    page,
    ...(sendsFile ? { files: { file: file().optional() } } : {}),
    maxBody: sendsFile ? LARGEST_FILE : LARGEST_TEXT,
    act: (sent) => commitEdit(kind, sent, sendsFile),
  })
})

async function commitEdit(kind: EditKind, sent: EditSent, sendsFile: boolean): Promise<string> {
  const { ctx, path, fields } = sent
  const project = await call(getProject, ctx, { path: { id: path.project } })
  const place = await placeOf(ctx, project, path.ref_path)
  const upload = sendsFile ? await readUpload(fields.file) : undefined
  const text = (name: string) => (typeof fields[name] === 'string' ? String(fields[name]) : '')
  const filled: Filled = { place, text, upload }
  const action = kind.action(filled)
  const branch = text('branch').trim()
  const inFork = (await editsWhere(ctx, project)) === 'fork'
  const target = inFork ? await ownFork(ctx, project) : project
  const isNew = inFork || branch !== place.ref
  const body = {
    branch,
    commit_message: text('commit_message').trim() || kind.message(filled),
    actions: [action],
    ...(isNew ? await startOf(ctx, project, place) : {}),
    ...(inFork ? { start_project: project.id } : {}),
    stats: false,
  }
  await call(createRepositoryCommit, ctx, { path: { id: target.id }, body })
  leaveFlash(ctx, {
    kind: 'notice',
    text: `The change was committed to ${branch}${inFork ? ` of ${target.path_with_namespace}` : ''}.`,
  })
  return isNew && text('merge_request') === '1'
    ? requestAddress(target, branch, { project, ref: place.ref })
    : shownThen(target, branch, action)
}

/** A new branch starts at what the page shows: a branch, or the commit of a tag or id. */
async function startOf(ctx: PageCtx, project: ProjectData, { ref }: Place) {
  const path = { id: project.id, branch: ref }
  const branch = await call(getRepositoryBranch, ctx, { path }).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'not_found') return undefined
    throw error
  })
  if (branch) return { start_branch: branch.name }
  const commit = await call(getSingleCommit, ctx, { path: { id: project.id, sha: ref } })
  return { start_sha: commit.id }
}

async function readUpload(sent: unknown) {
  // The schema of the form has read it.
  const upload = sent as UploadedFile | undefined
  if (!upload) throw invalid({ file: ['is missing'] })
  const bytes = await readFile(upload.path)
  return { name: basename(upload.filename), base64: bytes.toString('base64') }
}

function requestAddress(
  project: ProjectData,
  source: string,
  into: { readonly project: ProjectData; readonly ref: string },
): string {
  return withQuery(pathOf(project.path_with_namespace, '-', 'merge_requests', 'new'), {
    'merge_request[source_branch]': source,
    'merge_request[target_branch]': into.ref,
    'merge_request[target_project_id]':
      into.project.id === project.id ? undefined : into.project.id,
  })
}

/** The file as it is then; of one that is gone its folder. */
function shownThen(project: ProjectData, ref: string, { action, file_path }: CommitAction): string {
  if (action !== 'delete') return placeAddress(project, 'blob', { ref, path: file_path })
  // Its folder may be gone with it.
  return placeAddress(project, 'tree', { ref, path: '' })
}
