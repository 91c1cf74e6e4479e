import { call, may } from '../../http/call/call.ts'
import { integer, text } from '../../http/params.ts'
import {
  getGroup,
  getGroupProjects,
  getSubgroups,
  postGroup,
} from '../../projects/groups/endpoints.ts'
import { listAllMembers } from '../../projects/members/endpoints.ts'
import { postProject } from '../../projects/projects/endpoints.ts'
import { pathOf, withQuery } from '../address.ts'
import { page } from '../page.ts'
import { Avatar, Blank, Pages } from '../parts/basics.tsx'
import { Form } from '../parts/form.tsx'
import { GroupList } from '../parts/group-list.tsx'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { ProjectList } from '../parts/project-list.tsx'
import { VisibilityMark } from '../project/visibility.tsx'

const PER_PAGE = 20

export const groupQuery = {
  name: text({ max: 300 }).optional(),
  page: integer({ min: 1 }).default(1),
}

/** A group with the groups and projects directly below it. */
export const groupPage = page({
  address: '/groups/*path',
  summary: 'A group and its projects',
  query: groupQuery,
  api: ({ path }) => `/groups/${encodeURIComponent(path)}`,
  async read(ctx, { path: id, query: { name, page } }) {
    const path = { id }
    const search = name === '' ? undefined : name
    const group = await call(getGroup, ctx, { path, query: { with_projects: false } })
    const [projects, groups, mayCreate, mayNest, maySeeMembers] = await Promise.all([
      call(getGroupProjects, ctx, {
        path,
        query: { search, order_by: 'last_activity_at', page, per_page: PER_PAGE },
      }),
      call(getSubgroups, ctx, { path, query: { search, per_page: 100 } }),
      may(postProject, ctx, { path: {}, body: { namespace_id: group.id } }),
      may(postGroup, ctx, { path: {}, body: { parent_id: group.id } }),
      may(listAllMembers, ctx, { path: { source: 'groups', id: group.id } }),
    ])
    const mays = { mayCreate, mayNest, maySeeMembers }
    return { group, projects, below: groups.items, page, name, ...mays }
  },
  title: ({ group }) => `${group.full_name} · Gitstead`,
  view: ({ group, projects, below, page: number, name, ...mays }) => (
    <div class="narrow stack">
      <div class="row between">
        <h1 class="row">
          <Avatar of={group} size={32} /> {group.full_name}{' '}
          <VisibilityMark visibility={group.visibility} />
        </h1>
        <div class="row">
          {mays.maySeeMembers && (
            <A class="button" href={pathOf('groups', group.full_path, '-', 'group_members')}>
              <Icon name="people" /> Members
            </A>
          )}
          {mays.mayNest && (
            <A class="button" href={withQuery('/groups/new', { parent_id: group.id })}>
              New subgroup
            </A>
          )}
          {mays.mayCreate && (
            <A class="button primary" href={withQuery('/projects/new', { namespace_id: group.id })}>
              New project
            </A>
          )}
        </div>
      </div>
      {group.description && <p>{group.description}</p>}
      <Form action={pathOf(group.full_path)} method="get" role="search" class="row">
        <input
          type="search"
          name="name"
          value={name ?? ''}
          placeholder="Name"
          aria-label="Name of a project or group"
        />
        <button type="submit" class="button">
          Filter
        </button>
        <A href={withQuery('/search', { group_id: group.id })}>Search in this group</A>
      </Form>
      {below.length > 0 && (
        <section class="stack tight">
          <h2>Groups</h2>
          <GroupList groups={below} />
        </section>
      )}
      <section class="stack tight">
        <h2>Projects</h2>
        {projects.items.length === 0 && (
          <Blank icon="repo" title="No projects here">
            <p>Projects of this group that you may see are listed here.</p>
          </Blank>
        )}
        <ProjectList projects={projects.items} />
        <Pages
          page={number}
          perPage={PER_PAGE}
          total={projects.total}
          more={projects.more}
          address={withQuery(pathOf(group.full_path), { name })}
        />
      </section>
    </div>
  ),
})
