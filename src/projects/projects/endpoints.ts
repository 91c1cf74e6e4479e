import { z } from 'zod'
import { anyone, onInstance, onProject, type Project, signedIn } from '../../access/subjects.ts'
import { forbidden } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { atLeastOne, csv, file, flag, id, oneOf, text } from '../../http/params.ts'
import { sentAvatar } from '../../identity/users/avatar/sent-avatar.ts'
import { getUser } from '../../identity/users/find-user.ts'
import { limitsArtifacts, limitsRepository } from '../namespaces/access.ts'
import { changesVisibility, switchesMirrorOn } from './access.ts'
import { createsProjectIn, findTemplate } from './create/access.ts'
import { createProject, type NewProject } from './create/create-project.ts'
import { assertImportable, enqueueImport, shownUrl } from './create/import-url.ts'
import { projectBasicEntity, projectEntity, projectListEntity } from './entity.ts'
import { refreshContent } from './facts/measure.ts'
import { imageCleanupParam } from './image-cleanup.ts'
import { listProjects } from './list/list-projects.ts'
import { projectListParams, projectPages } from './list/params.ts'
import { presentProject, readProject } from './present.ts'
import { removeOrMark, unmarkProject } from './removal/remove-project.ts'
import { legacyParams, projectSettingParams, sentSettings } from './settings.ts'
import { sentTopics } from './topics/sent-topics.ts'
import { updateProject } from './update-project.ts'

/** What creation and update take alike (docs/contract/D §1.2). */
const projectBodyParams = {
  description: text().nullable().optional(),
  visibility: oneOf(['private', 'internal', 'public']).optional(),
  default_branch: text().optional(),
  tag_list: csv(text()).optional(),
  topics: csv(text()).optional(),
  avatar: file()
    .or(text({ max: 0 }))
    .nullable()
    .optional(),
  container_expiration_policy_attributes: imageCleanupParam,
  ...projectSettingParams,
  ...legacyParams,
} as const

export const getProjects = endpoint({
  method: 'GET',
  path: '/projects',
  summary: 'List the projects that the caller sees',
  access: anyone(),
  query: projectListParams,
  paginate: projectPages,
  response: projectListEntity,
  handler: ({ ctx, query, page }) => listProjects(ctx, { kind: 'all' }, query, page),
})

const creationParams = {
  name: text().optional(),
  path: text().optional(),
  initialize_with_readme: flag().optional(),
  repository_object_format: oneOf(['sha1', 'sha256']).optional(),
  import_url: text({ max: 2000 }).optional(),
  template_name: text({ max: 255 }).optional(),
  template_project_id: id()
    .or(text({ max: 1024 }))
    .optional(),
  ...projectBodyParams,
} as const

const nameOrPath = atLeastOne(['name', 'path'])

type CreationBody = {
  readonly [K in keyof typeof creationParams]?: z.infer<(typeof creationParams)[K]>
}

/** What a request says of a project, for its creation and changes alike. */
async function sentFields(ctx: Ctx, body: CreationBody, sent: ReadonlySet<string>) {
  return {
    name: body.name,
    path: body.path,
    description: body.description,
    visibility: body.visibility,
    defaultBranch: body.default_branch,
    topics: sentTopics(body),
    settings: sentSettings(body, sent),
    avatar: await sentAvatar(ctx, body.avatar),
  }
}

async function create(
  ctx: Ctx,
  body: CreationBody,
  sent: ReadonlySet<string>,
  more: Pick<NewProject, 'namespace' | 'creatorId'>,
) {
  const template = await findTemplate(ctx, body)
  const { import_url: url } = body
  if (url && !ctx.settings.get('import_sources').includes('git')) throw forbidden()
  if (url) await assertImportable(ctx, url)
  const { avatar, ...fields } = await sentFields(ctx, body, sent)
  const row = await createProject(ctx, {
    ...more,
    ...fields,
    avatar: avatar ?? undefined,
    initializeWithReadme: body.initialize_with_readme,
    objectFormat: body.repository_object_format,
    ...(template ? beginningAs(template) : {}),
    ...(url ? importOf(url) : {}),
  })
  return await presentProject(ctx, row)
}

/** A project that begins with the files of another; its objects are named in the same way. */
function beginningAs({ id, settings }: Project): Partial<NewProject> {
  const isLong = settings.repository_object_format === 'sha256'
  return { templateId: id, objectFormat: isLong ? 'sha256' : 'sha1' }
}

/** A project whose content comes from elsewhere, by a task. */
function importOf(url: string): Partial<NewProject> {
  return {
    importUrl: shownUrl(url),
    importType: 'git',
    importStatus: 'scheduled',
    initializeWithReadme: false,
    templateId: undefined,
    onShown: (ctx, id) => enqueueImport(ctx, id, url),
  }
}

export const postProject = endpoint({
  method: 'POST',
  path: '/projects',
  summary: 'Create a project',
  access: signedIn(),
  body: { namespace_id: id().optional(), ...creationParams },
  check: nameOrPath,
  conditions: [createsProjectIn('namespace_id'), limitsArtifacts, limitsRepository],
  response: projectEntity,
  handler: ({ ctx, body, request }) =>
    create(ctx, body, request.sent, { namespace: body.namespace_id }),
})

export const postProjectForUser = endpoint({
  method: 'POST',
  path: '/projects/user/:user_id',
  summary: 'Create a project in the namespace of a user',
  access: onInstance(),
  params: { user_id: id() },
  body: { namespace_id: id().optional(), ...creationParams },
  check: nameOrPath,
  response: projectEntity,
  async handler({ ctx, params, body, request }) {
    const user = await getUser(ctx, params.user_id)
    const namespace = body.namespace_id ?? user.username
    return await create(ctx, body, request.sent, { namespace, creatorId: user.id })
  },
})

export const getProject = endpoint({
  method: 'GET',
  path: '/projects/:id',
  summary: 'Get a project',
  access: onProject('read_project'),
  jobToken: true,
  query: {
    statistics: flag().optional(),
    license: flag().optional(),
    with_custom_attributes: flag().optional(),
  },
  response: projectEntity.or(projectBasicEntity),
  async handler({ ctx, project, query }) {
    if (query.license) await refreshContent(ctx, project.id)
    return await readProject(ctx, project.id, {
      statistics: query.statistics,
      license: query.license,
      customAttributes: query.with_custom_attributes,
    })
  },
})

export const putProject = endpoint({
  method: 'PUT',
  path: '/projects/:id',
  summary: 'Change a project',
  access: onProject('admin_project'),
  body: { name: text().optional(), path: text().optional(), ...projectBodyParams },
  conditions: [changesVisibility, switchesMirrorOn, limitsArtifacts, limitsRepository],
  response: projectEntity.or(projectBasicEntity),
  async handler({ ctx, project, body, request }) {
    await updateProject(ctx, project, await sentFields(ctx, body, request.sent))
    return await readProject(ctx, project.id)
  },
})

const accepted = z.strictObject({ message: z.literal('202 Accepted') })

export const deleteProject = endpoint({
  method: 'DELETE',
  path: '/projects/:id',
  summary: 'Delete a project',
  access: onProject('delete_project'),
  query: { permanently_remove: flag().optional(), full_path: text().optional() },
  response: accepted,
  status: 202,
  async handler({ ctx, project, query, request }) {
    assertUnmodifiedSince(request, project.updated_at)
    await removeOrMark(ctx, project.id, {
      permanently: query.permanently_remove ?? false,
      fullPath: query.full_path,
    })
    return { message: '202 Accepted' as const }
  },
})

export const restoreProject = endpoint({
  method: 'POST',
  path: '/projects/:id/restore',
  summary: 'Restore a project that is marked for deletion',
  access: onProject('delete_project'),
  response: projectEntity.or(projectBasicEntity),
  async handler({ ctx, project }) {
    await unmarkProject(ctx, project.id)
    return await readProject(ctx, project.id)
  },
})
