import { Problem } from '../../base/problem.ts'
import { call } from '../../http/call/call.ts'
import { oneOf } from '../../http/params.ts'
import { getUserById, listUsers } from '../../identity/users/endpoints.ts'
import { listUserEvents } from '../../notifications/events/endpoints.ts'
import { getUserProjects } from '../../projects/projects/list/user-endpoints.ts'
import { withQuery } from '../address.ts'
import { Choices } from '../dashboard/choices.tsx'
import { page } from '../page.ts'
import { Avatar, Blank, Time } from '../parts/basics.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { ProjectList } from '../parts/project-list.tsx'
import { readProjectPaths } from '../project-paths.ts'
import { Activity } from './activity.tsx'
import { AdministerPerson } from './administer-person.tsx'

const tabs = [
  ['projects', 'Projects'],
  ['activity', 'Activity'],
] as const

/** A person with what they show of themself, their projects, and what they did. */
export const profilePage = page({
  address: '/users/:username',
  summary: 'A person, their projects and activity',
  query: { tab: oneOf(['projects', 'activity']).default('projects') },
  api: ({ username }) => withQuery('/users', { username }),
  async read(ctx, { username, query }) {
    const found = await call(listUsers, ctx, { path: {}, query: { username } })
    const [known] = found.items
    if (!known) throw new Problem('not_found', 404, { message: '404 User Not Found' })
    const user = await call(getUserById, ctx, { path: { id: known.id } }).catch(() => known)
    if (query.tab === 'activity') {
      const path = { id: known.id }
      const { items } = await call(listUserEvents, ctx, { path, query: { per_page: 40 } })
      const paths = await readProjectPaths(
        ctx,
        items.map(({ project_id }) => project_id),
      )
      return { user, activity: { events: items, paths } }
    }
    const { items: projects } = await call(getUserProjects, ctx, {
      path: { user_id: known.id },
      query: { order_by: 'last_activity_at', per_page: 50 },
    })
    return { user, projects }
  },
  title: ({ user }) => `${user.name} (@${user.username}) · Gitstead`,
  view: (data) => (
    <div class="narrow stack">
      <Head user={data.user} />
      <AdministerPerson of={data.user} />
      <Choices
        label="About this person"
        address={`/users/${data.user.username}`}
        name="tab"
        options={tabs}
        current={'activity' in data ? 'activity' : 'projects'}
      />
      {'activity' in data && data.activity ? (
        <>
          {data.activity.events.length === 0 && <Blank icon="history" title="No activity to see" />}
          <Activity {...data.activity} />
        </>
      ) : (
        <>
          {data.projects?.length === 0 && (
            <Blank icon="repo" title="No projects to see">
              <A href="/explore">Explore projects</A>
            </Blank>
          )}
          <ProjectList projects={data.projects ?? []} />
        </>
      )}
    </div>
  ),
})

interface Shown {
  readonly username: string
  readonly name: string
  readonly avatar_url: string | null
  readonly public_email?: string | null
  readonly created_at?: string | null | undefined
  readonly bio?: string | null | undefined
  readonly pronouns?: string | null | undefined
  readonly location?: string | null | undefined
  readonly work_information?: string | null | undefined
  readonly website_url?: string | null | undefined
}

function Head({ user }: { user: Shown }) {
  const mail = user.public_email
  const site = user.website_url
  return (
    <header class="row top-start">
      <Avatar of={user} size={64} />
      <div class="stack tight">
        <h1>{user.name}</h1>
        <p class="quiet">
          @{user.username}
          {user.pronouns && ` · ${user.pronouns}`}
          {user.created_at && (
            <>
              {' · here since '}
              <Time at={user.created_at} />
            </>
          )}
        </p>
        {user.bio && <p>{user.bio}</p>}
        <ul class="row quiet">
          <Fact icon="organization" of={user.work_information} />
          <Fact icon="globe" of={user.location} />
          {mail && (
            <li>
              <Icon name="mail" /> <A href={`mailto:${mail}`}>{mail}</A>
            </li>
          )}
          {site && (
            <li>
              <Icon name="link" /> <A href={site}>{site.replace(/^https?:\/\//, '')}</A>
            </li>
          )}
        </ul>
      </div>
    </header>
  )
}

function Fact({ icon, of }: { icon: IconName; of: string | null | undefined }) {
  if (!of) return null
  return (
    <li>
      <Icon name={icon} /> {of}
    </li>
  )
}
