import { pathOf } from '../address.ts'
import { VisibilityMark } from '../project/visibility.tsx'
import { Avatar, Time } from './basics.tsx'
import { ButtonForm } from './form.tsx'
import { Icon } from './icon.tsx'
import { A } from './link.tsx'

/** A project as lists give it. */
export interface ListedProject {
  readonly id: number
  readonly name: string
  readonly path_with_namespace: string
  readonly description: string | null
  readonly avatar_url?: string | null
  readonly visibility?: string
  readonly star_count?: number
  readonly last_activity_at?: string
}

/** Projects as rows; with `starred`, each has a star to give or to take back. */
export function ProjectList({
  projects,
  starred,
}: {
  projects: readonly ListedProject[]
  starred?: ReadonlySet<number>
}) {
  return (
    <ul class="list">
      {projects.map((project) => (
        <li key={project.id}>
          <Avatar of={{ name: project.name, avatar_url: project.avatar_url ?? null }} size={32} />
          <div class="main">
            <A class="title" href={pathOf(project.path_with_namespace)}>
              {project.path_with_namespace}
            </A>{' '}
            <VisibilityMark visibility={project.visibility} />
            {project.description && <p class="facts">{project.description}</p>}
          </div>
          <span class="facts">
            {starred === undefined && (
              <>
                <Icon name="star" /> {project.star_count ?? 0} ·{' '}
              </>
            )}
            <Time at={project.last_activity_at} />
          </span>
          {starred && <StarButton project={project} has={starred.has(project.id)} />}
        </li>
      ))}
    </ul>
  )
}

function StarButton({ project, has }: { project: ListedProject; has: boolean }) {
  return (
    <ButtonForm
      action={`${pathOf(project.path_with_namespace)}/-/${has ? 'unstar' : 'star'}`}
      kind="quiet"
      title={`${has ? 'Take the star back from' : 'Star'} ${project.name}`}
      label={
        <>
          <Icon name={has ? 'star-fill' : 'star'} /> {project.star_count ?? 0}
        </>
      }
    />
  )
}
