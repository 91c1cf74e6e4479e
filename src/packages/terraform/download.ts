import type { Project } from '../../access/subjects.ts'
import { notFound, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'
import { answerPackageFile } from '../registry/download.ts'
import { findInstallable, listInstallable, listPackageFiles } from '../registry/find.ts'
import { moduleName, newestFirst } from './names.ts'

export function noVersion(name: string): Problem {
  return new Problem('not_found', 404, {
    message: { error: `No version found for ${name} module` },
  })
}

/** Streams the archive of a version of a module of a project. */
export async function answerModule(
  ctx: Ctx,
  request: RequestFacts,
  at: { readonly projectId: number; readonly name: string; readonly system: string },
  version: string,
): Promise<Bytes> {
  const nameKey = moduleName(at.name, at.system)
  const key = { type: 'terraform_module', nameKey, versionKey: version } as const
  const row = await findInstallable(ctx, { id: at.projectId }, key)
  const file = row && (await listPackageFiles(ctx, row)).at(-1)
  if (!file) throw noVersion(at.name)
  return await answerPackageFile(ctx, request, file, { type: 'application/gzip' })
}

/** As `answerModule`; with `terraform-get=1` the address of the file instead, as its downloader asks for it. */
export async function answerProjectModule(
  ctx: Ctx,
  request: RequestFacts,
  at: { readonly project: Project; readonly name: string; readonly system: string },
  options: { readonly version?: string; readonly asAddress: boolean },
): Promise<Bytes> {
  const { project, name, system } = at
  const key = { type: 'terraform_module', nameKey: moduleName(name, system) } as const
  const rows = newestFirst(await listInstallable(ctx, project, key))
  const row = rows.find((one) => options.version === undefined || one.version === options.version)
  if (!row?.version) throw notFound('Package')
  if (!options.asAddress) {
    return await answerModule(ctx, request, { projectId: project.id, name, system }, row.version)
  }
  const root = `${ctx.config.externalUrl}/api/v4/projects/${project.id}/packages/terraform`
  const url = `${root}/modules/${name}/${system}/${row.version}?archive=tgz`
  return { status: 204, body: '', type: 'text/plain', headers: { 'X-Terraform-Get': url } }
}
