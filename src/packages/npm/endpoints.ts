import { z } from 'zod'
import { userOf } from '../../access/actor.ts'
import {
  anyone,
  type Group,
  onGroup,
  onProject,
  type Project,
  signedIn,
} from '../../access/subjects.ts'
import { notFound, type Problem, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Bytes, bytes, endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { elsewhere, forwardOr, isForwarded, keepsForwarded } from '../forwarding/forward.ts'
import { passOn } from '../forwarding/pass-on.ts'
import { challenging } from '../registry/access.ts'
import { answerDocument } from '../registry/documents.ts'
import { answerPackageFile } from '../registry/download.ts'
import { type Level, onNpmPlace, onNpmPublish, onNpmSearch, onNpmTag } from './access.ts'
import { npmRead, npmWrite } from './client.ts'
import { deprecateNpmVersions } from './deprecate.ts'
import { findTarball } from './find-tarball.ts'
import { answerForwardedMetadata, answerForwardedTarball } from './forwarded.ts'
import { type Form, type NpmPlace, readNpmMetadata, readTags } from './metadata.ts'
import { NAMES, ROOTS } from './paths.ts'
import { publishNpmPackage } from './publish.ts'
import { listVersionNames } from './queries.ts'
import { deleteNpmTag, putNpmTag } from './tags.ts'

const LEVELS = ['project', 'group', 'instance'] as const

const SHORT_TYPE = 'application/vnd.npm.install-v1+json'

function formOf(headers: RequestFacts['headers']) {
  return String(headers.accept ?? '').includes(SHORT_TYPE) ? 'short' : 'full'
}

/** A package that is not here may be elsewhere, or in a project that only those who sign in can see. */
async function answerMissing(
  ctx: Ctx,
  level: Level,
  { name, within, namespaceId }: NpmPlace,
  form: Form,
  request: RequestFacts,
): Promise<Bytes> {
  const path = name.replace('/', '%2f')
  const root = request.url.slice(0, request.url.lastIndexOf('/packages/npm/') + NPM_PATH)
  const fromCache = () => answerForwardedMetadata(ctx, { name, form, root }, request)
  return await forwardOr(
    ctx,
    'npm',
    { namespaceId, place: within, nameKeys: [name], path, fromCache },
    missing(ctx, level, 'Package'),
  )
}

function missing(ctx: Ctx, level: Level, thing: string): Problem {
  const isHidden = level !== 'project' && ctx.actor.kind === 'anonymous'
  return isHidden ? unauthorized() : notFound(thing)
}

const NPM_PATH = '/packages/npm'.length

export const getNpmPackages = LEVELS.flatMap((level) =>
  NAMES.map((name) =>
    endpoint({
      ...npmRead,
      method: 'GET',
      path: `${ROOTS[level]}/${name.path}`,
      summary: 'Get the npm metadata of a package',
      access: onNpmSearch(level),
      params: name.params,
      response: bytes('application/json'),
      async handler({ ctx, place, request }) {
        const form = formOf(request.headers)
        const document = await readNpmMetadata(ctx, place, form)
        if (!document) return await answerMissing(ctx, level, place, form, request)
        const type = form === 'short' ? SHORT_TYPE : 'application/json'
        return answerDocument(request, document, type)
      },
    }),
  ),
)

export const putNpmPackage = NAMES.map((name) =>
  endpoint({
    ...npmWrite,
    method: 'PUT',
    path: `${ROOTS.project}/${name.path}`,
    summary: 'Publish a version of an npm package, or deprecate versions',
    access: onNpmPublish(),
    params: name.params,
    raw: true,
    response: z.strictObject({ success: z.boolean() }),
    async handler({ ctx, project, place, request }) {
      const isDeprecation = request.headers['npm-command'] === 'deprecate'
      const act = isDeprecation ? deprecateNpmVersions : publishNpmPackage
      await act(ctx, project, place.name, request)
      return { success: true }
    },
  }),
)

export const getNpmTarball = LEVELS.flatMap((level) =>
  NAMES.map((name) =>
    endpoint({
      ...npmRead,
      method: 'GET',
      path: `${ROOTS[level]}/${name.path}/-/*file_name`,
      summary: 'Download the tarball of a version of an npm package',
      access: onNpmSearch(level),
      params: { ...name.params, file_name: text() },
      response: bytes('application/octet-stream'),
      async handler({ ctx, place, params, request }) {
        const file = await findTarball(ctx, place, params.file_name)
        if (file) {
          const fileName = file.file_name.split('/').at(-1) ?? ''
          return await answerPackageFile(ctx, request, file, { fileName })
        }
        const { name, within, namespaceId } = place
        const fromCache = () => answerForwardedTarball(ctx, name, params.file_name, request)
        const asked = { namespaceId, place: within, nameKeys: [name], fromCache }
        return await forwardOr(ctx, 'npm', asked, missing(ctx, level, 'Package file'))
      },
    }),
  ),
)

const tagList = z.record(z.string(), z.string())

export const getNpmTags = LEVELS.flatMap((level) =>
  NAMES.map((name) =>
    endpoint({
      ...npmRead,
      method: 'GET',
      path: `${ROOTS[level]}/-/package/${name.path}/dist-tags`,
      summary: 'List the tags of an npm package',
      access: onNpmPlace(level),
      params: name.params,
      response: tagList,
      async handler({ ctx, place }) {
        const versions = await listVersionNames(ctx.db, place.projectIds, place.name)
        if (versions.length === 0) throw notFound('Package')
        return await readTags(ctx, place, versions)
      },
    }),
  ),
)

export const putNpmTags = LEVELS.flatMap((level) =>
  NAMES.map((name) =>
    endpoint({
      ...npmWrite,
      method: 'PUT',
      path: `${ROOTS[level]}/-/package/${name.path}/dist-tags/:tag`,
      summary: 'Set a dist-tag of an npm package',
      access: onNpmTag(level, 'write_package'),
      params: { ...name.params, tag: text({ max: 255 }) },
      raw: true,
      handler: ({ ctx, projects, place, params, request }) =>
        putNpmTag(ctx, projects, place.name, params.tag, request),
    }),
  ),
)

export const deleteNpmTags = LEVELS.flatMap((level) =>
  NAMES.map((name) =>
    endpoint({
      ...npmWrite,
      method: 'DELETE',
      path: `${ROOTS[level]}/-/package/${name.path}/dist-tags/:tag`,
      summary: 'Remove a tag of an npm package',
      access: onNpmTag(level, 'delete_package'),
      params: { ...name.params, tag: text({ max: 255 }) },
      handler: ({ ctx, projects, place, params }) =>
        deleteNpmTag(ctx, projects, place.name, params.tag),
    }),
  ),
)

/** Everybody may ask on a level they see; the answers hold nothing of it. */
function onLevel(level: Level) {
  if (level === 'project') return challenging(onProject('read_packages'))
  if (level === 'group') return challenging(onGroup('read_packages'))
  return anyone()
}

function namespaceOf(given: object): number | undefined {
  const { project, group } = given as { project?: Project; group?: Group } // what `onLevel` found
  return group?.id ?? project?.namespace_id
}

/** No advisories are kept here: `npm audit` is content with none, or asks where packages are forwarded to. */
export const postNpmAudits = LEVELS.flatMap((level) =>
  (['advisories/bulk', 'audits/quick'] as const).map((kind) =>
    endpoint({
      ...npmRead,
      method: 'POST',
      path: `${ROOTS[level]}/-/npm/v1/security/${kind}`,
      summary: 'Answer npm audit: no advisories are known here',
      access: onLevel(level),
      scopes: ['api', 'read_api'],
      raw: true,
      response: z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())]),
      status: 200,
      async handler({ ctx, request, ...given }) {
        const none = kind === 'advisories/bulk' ? {} : []
        if (!(await isForwarded(ctx, 'npm', namespaceOf(given)))) return none
        const path = `-/npm/v1/security/${kind}`
        if (!keepsForwarded(ctx)) throw elsewhere(ctx, 'npm', path, 307)
        const answer = await passOn(ctx, 'npm', path, await request.payload())
        return typeof answer === 'object' && answer !== null ? answer : none
      },
    }),
  ),
)

export const getNpmPing = LEVELS.map((level) =>
  endpoint({
    ...npmRead,
    method: 'GET',
    path: `${ROOTS[level]}/-/ping`,
    summary: 'Answer npm ping',
    access: onLevel(level),
    response: z.strictObject({}),
    handler: () => ({}),
  }),
)

export const getNpmWhoami = LEVELS.map((level) =>
  endpoint({
    ...npmRead,
    method: 'GET',
    path: `${ROOTS[level]}/-/whoami`,
    summary: 'Get the username of the token (npm)',
    access: signedIn(),
    response: z.strictObject({ username: z.string() }),
    handler({ ctx }) {
      const { actor } = ctx
      const username = actor.kind === 'deploy_token' ? actor.username : userOf(actor)?.username
      return { username: username ?? '' }
    },
  }),
)
