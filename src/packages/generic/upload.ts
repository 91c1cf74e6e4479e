import type { Project } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { assertMayPush } from '../protection/conditions.ts'
import { findInstallable, findPackageFile, type PackageFileRow } from '../registry/find.ts'
import { publishFile } from '../registry/publish.ts'
import { type ReceivedFile, receiveFile } from '../registry/receive.ts'
import { receiveForm } from '../registry/receive-form.ts'
import { mayDuplicate } from '../settings/settings.ts'
import type { GenericNames } from './names.ts'

type Body = Pick<RequestFacts, 'headers' | 'body'>

/** Publishes one file; the body is the file itself, or a form with it. */
export async function uploadGenericFile(
  ctx: Ctx,
  project: Project,
  names: GenericNames,
  options: { readonly status?: 'default' | 'hidden' | undefined },
  request: Body,
): Promise<PackageFileRow> {
  const { name, version } = names
  // Before the bytes are taken in, and once more when they are published.
  await assertMayPush(ctx, project, 'generic', name)
  const mayRepeat = await mayDuplicate(ctx, project, 'generic', [name, version])
  const received = await receive(ctx, request)
  const published = await publishFile(ctx, project, {
    type: 'generic',
    name,
    version,
    setStatus: options.status,
    file: { name: names.file, received },
    refuse: ({ file }) =>
      file && !mayRepeat ? badRequest('Duplicate package is not allowed') : undefined,
  })
  if (!published.file) throw new Error('a published file is not there')
  return published.file
}

async function receive(ctx: Ctx, request: Body): Promise<ReceivedFile> {
  const type = String(request.headers['content-type'] ?? '')
  if (!/^multipart\/form-data\b/i.test(type)) return receiveFile(ctx, 'generic', request)
  const { file } = await receiveForm(ctx, 'generic', request, 'file')
  if (!file) throw badRequest('file is missing')
  return file.kept
}

/** The newest file of these names. */
export async function findGenericFile(
  ctx: Pick<Ctx, 'db'>,
  project: Pick<Project, 'id'>,
  names: GenericNames,
): Promise<PackageFileRow | undefined> {
  const key = { type: 'generic', nameKey: names.name, versionKey: names.version } as const
  const row = await findInstallable(ctx, project, key)
  return row && findPackageFile(ctx, row, names.file)
}
