import { describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let count = 0

async function project(more: Record<string, unknown> = {}, owner = ana) {
  count += 1
  return createProject(owner, `p${count}`, more)
}

/** Each setting with what it is in a new project, and what else it may be. */
const settings: readonly (readonly [name: string, preset: unknown, other: unknown])[] = [
  ...[
    'issues',
    'repository',
    'merge_requests',
    'forking',
    'wiki',
    'builds',
    'snippets',
    'pages',
    'analytics',
    'container_registry',
    'security_and_compliance',
    'releases',
    'environments',
    'feature_flags',
    'infrastructure',
    'monitor',
    'model_experiments',
    'model_registry',
    'requirements',
    'package_registry',
  ].map((feature) => [`${feature}_access_level`, 'enabled', 'private'] as const),
  ['resolve_outdated_diff_discussions', false, true],
  ['shared_runners_enabled', true, false],
  ['group_runners_enabled', true, false],
  ['lfs_enabled', true, false],
  ['service_desk_enabled', false, true],
  ['mr_default_target_self', false, true],
  ['ci_config_path', null, 'ci/main.yml'],
  ['ci_default_git_depth', 20, 0],
  ['ci_delete_pipelines_in_seconds', null, 86_400],
  ['ci_forward_deployment_enabled', true, false],
  ['ci_forward_deployment_rollback_allowed', true, false],
  ['ci_job_token_scope_enabled', false, true],
  ['ci_separated_caches', true, false],
  ['ci_allow_fork_pipelines_to_run_in_parent_project', true, false],
  ['ci_pipeline_variables_minimum_override_role', 'developer', 'owner'],
  ['ci_push_repository_for_job_token_allowed', false, true],
  ['build_git_strategy', 'fetch', 'clone'],
  ['build_timeout', 3600, 7200],
  ['build_coverage_regex', null, String.raw`(\d+)%`],
  ['auto_cancel_pending_pipelines', 'enabled', 'disabled'],
  ['auto_devops_enabled', false, true],
  ['auto_devops_deploy_strategy', 'continuous', 'manual'],
  ['keep_latest_artifact', true, false],
  ['restrict_user_defined_variables', false, true],
  ['runner_token_expiration_interval', null, 3600],
  ['public_jobs', true, false],
  ['resource_group_default_process_mode', 'unordered', 'newest_first'],
  ['only_allow_merge_if_pipeline_succeeds', false, true],
  ['allow_merge_on_skipped_pipeline', false, true],
  ['only_allow_merge_if_all_discussions_are_resolved', false, true],
  ['request_access_enabled', true, false],
  ['remove_source_branch_after_merge', true, false],
  ['printing_merge_request_link_enabled', true, false],
  ['merge_method', 'merge', 'ff'],
  ['merge_request_title_regex', null, '^Draft'],
  ['squash_option', 'default_off', 'never'],
  ['enforce_auth_checks_on_uploads', true, false],
  ['suggestion_commit_message', null, 'Apply %{suggestions_count}'],
  ['merge_commit_template', null, 'Merge %{title}'],
  ['squash_commit_template', null, 'Squash %{title}'],
  ['issue_branch_template', null, '%{id}'],
  ['autoclose_referenced_issues', true, false],
  ['warn_about_potentially_unwanted_characters', true, false],
  ['max_artifacts_size', null, 5],
  ['approvals_before_merge', 0, 2],
  ['merge_pipelines_enabled', false, true],
  ['merge_trains_enabled', false, true],
  ['allow_pipeline_trigger_approve_deployment', false, true],
  ['external_authorization_classification_label', null, 'label'],
  ['issues_template', null, 'What happened?'],
  ['merge_requests_template', null, 'Why?'],
  ['prevent_merge_without_jira_issue', false, true],
]

const presets = Object.fromEntries(settings.map(([name, preset]) => [name, preset]))
const others = Object.fromEntries(settings.map(([name, , other]) => [name, other]))

describe('settings of a project', () => {
  test('have their presets in a new one, are kept as they are changed, and go back', async () => {
    const { id } = await project()
    expect((await ana.get(`/projects/${id}`)).body).toMatchObject(presets)
    const changed = await ana.put(`/projects/${id}`, others)
    expect([changed.status, changed.body]).toMatchObject([200, others])
    expect((await ana.get(`/projects/${id}`)).body).toMatchObject(others)
    const [listed] = (await ana.get(`/projects?search=p${count}`)).body
    expect(listed).toMatchObject(others)
    const back = await ana.put(`/projects/${id}`, presets)
    expect(back.body).toMatchObject(presets)
  })

  test('are given at creation as well, as JSON or as a form', async () => {
    expect(await project(others)).toMatchObject(others)
    const form = new URLSearchParams({ name: 'by-form' })
    for (const [name, , other] of settings) form.set(name, String(other))
    const made = await ana.post('/projects', undefined, { raw: form })
    expect(made.body).toMatchObject(others)
  })

  test.each([
    ['merge_method', 'octopus', 'does not have a valid value'],
    ['squash_option', 'sometimes', 'does not have a valid value'],
    ['issues_access_level', 'public', 'does not have a valid value'],
    ['build_git_strategy', '', 'does not have a valid value'],
    ['build_timeout', 599, 'does not have a valid value'],
    ['build_timeout', 'long', 'is invalid'],
    ['ci_default_git_depth', -1, 'does not have a valid value'],
    ['ci_default_git_depth', 1001, 'does not have a valid value'],
    ['lfs_enabled', 'perhaps', 'is invalid'],
    ['visibility', 'secret', 'does not have a valid value'],
    ['ci_config_path', 'x'.repeat(256), 'is too long (maximum is 255 characters)'],
    ['topics', { a: 1 }, 'is invalid'],
  ])('%s is not %j', async (name, value, text) => {
    const { id } = await project()
    const before = (await ana.get(`/projects/${id}`)).body
    const reply = await ana.put(`/projects/${id}`, { [name]: value, description: 'lost' })
    expect([reply.status, reply.body]).toEqual([400, { error: `${name} ${text}` }])
    expect((await ana.get(`/projects/${id}`)).body).toEqual(before)
  })

  test('null clears what may be unset, and switches off what is on or off', async () => {
    const { id } = await project({ ci_config_path: 'x.yml', max_artifacts_size: 5 })
    const { body } = await ana.put(`/projects/${id}`, {
      ci_config_path: null,
      max_artifacts_size: null,
      ci_default_git_depth: null,
      lfs_enabled: null,
    })
    expect(body).toMatchObject({
      ci_config_path: null,
      max_artifacts_size: null,
      ci_default_git_depth: null,
      lfs_enabled: false,
    })
  })

  test.each([
    ['issues_enabled', 'issues_access_level'],
    ['merge_requests_enabled', 'merge_requests_access_level'],
    ['wiki_enabled', 'wiki_access_level'],
    ['jobs_enabled', 'builds_access_level'],
    ['snippets_enabled', 'snippets_access_level'],
    ['container_registry_enabled', 'container_registry_access_level'],
    ['packages_enabled', 'package_registry_access_level'],
  ])('%s and %s set each other', async (flag, level) => {
    const { id } = await project()
    const put = async (body: Record<string, unknown>) => {
      const reply = await ana.put(`/projects/${id}`, body)
      expect(reply.status).toBe(200)
      return [reply.body[flag], reply.body[level]]
    }
    expect(await put({ [flag]: false })).toEqual([false, 'disabled'])
    expect(await put({ [flag]: true })).toEqual([true, 'enabled'])
    expect(await put({ [level]: 'private' })).toEqual([true, 'private'])
    expect(await put({ [level]: 'disabled' })).toEqual([false, 'disabled'])
    // Who sends both means the level.
    expect(await put({ [flag]: false, [level]: 'private' })).toEqual([true, 'private'])
  })

  test('older names stand for the newer ones', async () => {
    const { id } = await project()
    const put = async (body: Record<string, unknown>) =>
      (await ana.put(`/projects/${id}`, body)).body
    const closed = await put({ public_builds: false })
    expect(closed).toMatchObject({ public_jobs: false })
    // Configuration tools take what comes back under the older name for a change of theirs.
    expect(closed).not.toHaveProperty('public_builds')
    expect(await put({ emails_disabled: true })).toMatchObject({
      emails_enabled: false,
      emails_disabled: true,
    })
    expect(await put({ emails_enabled: true })).toMatchObject({ emails_disabled: false })
    const both = { tag_list: ['a', 'b'], topics: ['a', 'b'] }
    expect(await put({ tag_list: 'a, b' })).toMatchObject(both)
    expect(await put({ topics: [] })).toMatchObject({ tag_list: [], topics: [] })
  })
})

describe('a feature of a public project', () => {
  const reads = [
    ['issues', 'issues'],
    ['merge_requests', 'merge_requests'],
    ['repository', 'repository/tree'],
    ['wiki', 'wikis'],
    ['builds', 'pipelines'],
    ['snippets', 'snippets'],
    ['releases', 'releases'],
    ['environments', 'environments'],
    ['package_registry', 'packages'],
    ['container_registry', 'registry/repositories'],
  ] as const

  test.each(reads)(
    '%s is for members when private, for nobody when disabled',
    async (feature, path) => {
      const made = await project({ visibility: 'public', initialize_with_readme: true })
      const member = await world.user(`member-${feature.replaceAll('_', '-')}`)
      await ana.post(`/projects/${made.id}/members`, { user_id: member.id, access_level: 30 })
      const visitor = await world.user(`visitor-${feature.replaceAll('_', '-')}`)
      const seen = async (level: string) => {
        await ana.put(`/projects/${made.id}`, { [`${feature}_access_level`]: level })
        const asked = [world.nobody, visitor, member, world.root]
        const replies = await Promise.all(
          asked.map((one) => one.get(`/projects/${made.id}/${path}`)),
        )
        return replies.map((reply) => reply.status === 200)
      }
      expect(await seen('enabled')).toEqual([true, true, true, true])
      expect(await seen('private')).toEqual([false, false, true, true])
      expect(await seen('disabled')).toEqual([false, false, false, false])
    },
  )

  test('is in the links of the project only while it is on', async () => {
    const { id } = await project()
    const links = async (body: Record<string, unknown>) =>
      Object.keys((await ana.put(`/projects/${id}`, body)).body._links)
    expect(await links({})).toEqual(expect.arrayContaining(['issues', 'merge_requests']))
    const off = { issues_access_level: 'disabled', merge_requests_enabled: false }
    const left = await links(off)
    expect(left).not.toContain('issues')
    expect(left).not.toContain('merge_requests')
  })

  test('forking needs its feature and a right to read the code', async () => {
    const made = await project({ visibility: 'public', initialize_with_readme: true })
    const forker = await world.user('forker')
    await ana.put(`/projects/${made.id}`, { forking_access_level: 'private' })
    expect((await forker.post(`/projects/${made.id}/fork`)).status).toBe(403)
    await ana.put(`/projects/${made.id}`, { forking_access_level: 'enabled' })
    expect((await forker.post(`/projects/${made.id}/fork`)).status).toBe(201)
  })

  test('its code is not forked around a closed repository', async () => {
    const made = await project({
      visibility: 'public',
      initialize_with_readme: true,
      repository_access_level: 'private',
    })
    const reader = await world.user('around')
    const forked = await reader.post(`/projects/${made.id}/fork`)
    expect([forked.status, forked.body]).toEqual([403, { message: '403 Forbidden' }])
  })
})
