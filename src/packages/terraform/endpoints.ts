import { z } from 'zod'
import { issueClientToken } from '../../access/authentication/client-token.ts'
import { anyone } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { secretIn } from '../../http/credentials/credentials.ts'
import { Answer, bytes, endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { clientRead, clientWrite, onProjectPackages } from '../registry/access.ts'
import { onTerraformModule, type TerraformModule, terraformRead } from './access.ts'
import { answerModule, answerProjectModule, noVersion } from './download.ts'
import { publishModule } from './publish-module.ts'

const REGISTRY = '/packages/terraform/modules/v1/:module_namespace/:module_name/:module_system'
const DOWNLOAD_SECONDS = 300

const word = text({ max: 255 })
const params = { module_namespace: word, module_name: word, module_system: word }
const version = { module_version: word }
const access = onTerraformModule()

const root = z.strictObject({
  dependencies: z.array(z.string()),
  providers: z.array(z.strictObject({ name: z.string(), version: z.string() })).optional(),
})

const moduleEntity = z.strictObject({
  name: z.string(),
  provider: z.string(),
  providers: z.array(z.string()),
  root,
  source: z.string(),
  submodules: z.array(z.string()),
  version: z.string(),
  versions: z.array(z.string()),
})

const listEntity = z.strictObject({
  modules: z.array(
    z.strictObject({
      versions: z.array(
        z.strictObject({ version: z.string(), submodules: z.array(z.string()), root }),
      ),
      source: z.string(),
    }),
  ),
})

function sourceOf(ctx: Ctx, module: TerraformModule): string {
  return `${ctx.config.externalUrl}/${module.versions[0]?.full_path ?? module.namespace}`
}

function rowOf(module: TerraformModule, wanted?: string) {
  const row =
    wanted === undefined
      ? module.versions[0]
      : module.versions.find((one) => one.version === wanted)
  if (!row?.version) throw noVersion(module.name)
  return { ...row, version: row.version }
}

function presentModule(ctx: Ctx, module: TerraformModule, wanted?: string) {
  return {
    name: `${module.name}/${module.system}`,
    provider: module.system,
    providers: [],
    root: { dependencies: [] },
    source: sourceOf(ctx, module),
    submodules: [],
    version: rowOf(module, wanted).version,
    versions: module.versions.map((row) => row.version ?? ''),
  }
}

function pathOf(ctx: Ctx, module: TerraformModule, rest: string): string {
  const { namespace, name, system } = module
  const at = new URL(ctx.config.externalUrl).pathname.replace(/\/$/, '')
  return `${at}/api/v4/packages/terraform/modules/v1/${namespace}/${name}/${system}/${rest}`
}

/** Where Terraform finds the archive: the address carries a token for what the caller signed in with. */
function fileAddress(ctx: Ctx, module: TerraformModule, version: string, request: RequestFacts) {
  const secret = secretIn(request.headers)
  const options = { purpose: 'terraform_module', seconds: DOWNLOAD_SECONDS } as const
  const token = secret === undefined ? '' : issueClientToken(ctx, secret, options)
  return pathOf(ctx, module, `${version}/file?token=${token}&archive=tgz`)
}

export const discoverTerraform = endpoint({
  method: 'GET',
  path: '/.well-known/terraform.json',
  host: true,
  ownSignIn: true,
  summary: 'Get where Terraform finds the module registry',
  access: anyone(),
  response: z.strictObject({ 'modules.v1': z.string() }),
  handler: ({ ctx }) => {
    const at = new URL(ctx.config.externalUrl).pathname.replace(/\/$/, '')
    return { 'modules.v1': `${at}/api/v4/packages/terraform/modules/v1/` }
  },
})

export const listTerraformVersions = endpoint({
  ...terraformRead,
  method: 'GET',
  path: `${REGISTRY}/versions`,
  summary: 'List the versions of a Terraform module',
  access,
  params,
  response: listEntity,
  handler({ ctx, module }) {
    const versions = module.versions.map((row) => ({
      version: row.version ?? '',
      submodules: [],
      root: { dependencies: [], providers: [{ name: module.system, version: '' }] },
    }))
    return { modules: [{ versions, source: sourceOf(ctx, module) }] }
  },
})

export const getTerraformModule = endpoint({
  ...terraformRead,
  method: 'GET',
  path: REGISTRY,
  summary: 'Get the newest version of a Terraform module',
  access,
  params,
  response: moduleEntity,
  handler: ({ ctx, module }) => presentModule(ctx, module),
})

export const getTerraformVersion = endpoint({
  ...terraformRead,
  method: 'GET',
  path: `${REGISTRY}/:module_version`,
  summary: 'Get a version of a Terraform module',
  access,
  params: { ...params, ...version },
  response: moduleEntity,
  handler: ({ ctx, module, params }) => presentModule(ctx, module, params.module_version),
})

export const redirectTerraformDownload = endpoint({
  ...terraformRead,
  method: 'GET',
  path: `${REGISTRY}/download`,
  summary: 'Go to the download of the newest version of a Terraform module',
  access,
  params,
  status: 302,
  handler({ ctx, module }) {
    const { origin } = new URL(ctx.config.externalUrl)
    const path = pathOf(ctx, module, `${rowOf(module).version}/download`)
    return new Answer(undefined, { status: 302, headers: { Location: `${origin}${path}` } })
  },
})

export const getTerraformDownload = endpoint({
  ...terraformRead,
  method: 'GET',
  path: `${REGISTRY}/:module_version/download`,
  summary: 'Get where the archive of a version of a Terraform module is',
  access,
  params: { ...params, ...version },
  status: 204,
  handler({ ctx, module, params, request }) {
    const { version } = rowOf(module, params.module_version)
    const address = fileAddress(ctx, module, version, request)
    return new Answer(undefined, { status: 204, headers: { 'X-Terraform-Get': address } })
  },
})

export const downloadTerraformModule = endpoint({
  ...terraformRead,
  method: 'GET',
  path: `${REGISTRY}/:module_version/file`,
  summary: 'Download the archive of a version of a Terraform module',
  access,
  params: { ...params, ...version },
  query: { token: text({ max: 8192 }).optional(), archive: text({ max: 20 }).optional() },
  response: bytes('application/gzip'),
  async handler({ ctx, module, params, request }) {
    const row = rowOf(module, params.module_version)
    const at = { projectId: row.project_id, name: module.name, system: module.system }
    return await answerModule(ctx, request, at, row.version)
  },
})

const names = { module_name: word, module_system: word }

const client = { ...clientRead.client, userName: 'own' } as const

export const publishTerraformModule = endpoint({
  ...clientWrite,
  client,
  method: 'PUT',
  path: '/projects/:id/packages/terraform/modules/:module_name/:module_system/:module_version/file',
  summary: 'Publish a version of a Terraform module',
  access: onProjectPackages('write_package'),
  params: { ...names, ...version },
  raw: true,
  response: z.strictObject({ message: z.string() }),
  status: 201,
  async handler({ ctx, project, params, request }) {
    const { module_name: name, module_system: system, module_version } = params
    await publishModule(ctx, project, { name, system, version: module_version }, request)
    return { message: '201 Created' }
  },
})

const asAddress = {
  'terraform-get': text({ max: 1 }).optional(),
  archive: text({ max: 20 }).optional(),
}

export const getProjectTerraformModule = endpoint({
  ...clientRead,
  client,
  method: 'GET',
  path: '/projects/:id/packages/terraform/modules/:module_name/:module_system',
  summary: 'Download the newest version of a Terraform module of a project',
  access: onProjectPackages('read_packages'),
  params: names,
  query: asAddress,
  response: bytes('application/gzip'),
  handler: ({ ctx, project, params, query, request }) =>
    answerProjectModule(
      ctx,
      request,
      { project, name: params.module_name, system: params.module_system },
      { asAddress: query['terraform-get'] === '1' },
    ),
})

export const getProjectTerraformVersion = endpoint({
  ...clientRead,
  client,
  method: 'GET',
  path: '/projects/:id/packages/terraform/modules/:module_name/:module_system/:module_version',
  summary: 'Download a version of a Terraform module of a project',
  access: onProjectPackages('read_packages'),
  params: { ...names, ...version },
  query: asAddress,
  response: bytes('application/gzip'),
  handler: ({ ctx, project, params, query, request }) =>
    answerProjectModule(
      ctx,
      request,
      { project, name: params.module_name, system: params.module_system },
      { version: params.module_version, asAddress: query['terraform-get'] === '1' },
    ),
})
