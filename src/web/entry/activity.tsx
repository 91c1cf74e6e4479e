import type { DataOf } from '../../http/endpoint.ts'
import type { listUserEvents } from '../../notifications/events/endpoints.ts'
import { pathOf } from '../address.ts'
import { counted, Time } from '../parts/basics.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'

export type Event = DataOf<typeof listUserEvents>['items'][number]

const folders: Readonly<Record<string, string>> = {
  Issue: 'issues',
  MergeRequest: 'merge_requests',
  Milestone: 'milestones',
}

/** What somebody did, the newest first. */
export function Activity({
  events,
  paths,
}: {
  events: readonly Event[]
  paths: ReadonlyMap<number, string>
}) {
  return (
    <ul class="list">
      {events.map((event) => {
        const project = paths.get(event.project_id ?? 0)
        return (
          <li key={event.id}>
            <Icon name={iconOf(event)} />
            <div class="main">
              {wordsOf(event)} <What event={event} project={project} />
              {project !== undefined && (
                <>
                  {' in '}
                  <A href={pathOf(project)}>{project}</A>
                </>
              )}
            </div>
            <span class="facts">
              <Time at={event.created_at} />
            </span>
          </li>
        )
      })}
    </ul>
  )
}

function iconOf({ push_data, note, target_type, action_name }: Event): IconName {
  if (push_data) return push_data.ref_type === 'tag' ? 'tag' : 'git-commit'
  if (note) return 'comment'
  if (action_name === 'accepted' || action_name === 'merged') return 'git-merge'
  if (target_type === 'MergeRequest') return 'git-pull-request'
  return target_type === 'Issue' ? 'issue-opened' : 'dot-fill'
}

function wordsOf({ action_name: action, push_data: push }: Event): string {
  if (!push) return action === 'accepted' ? 'merged' : action
  if (push.action === 'removed') return `deleted the ${push.ref_type}`
  if (push.action === 'created') return `pushed the new ${push.ref_type}`
  return `pushed ${counted(push.commit_count, 'commit')} to`
}

function What({ event, project }: { event: Event; project: string | undefined }) {
  const { push_data: push, note, target_type: type, target_iid: iid, target_title: title } = event
  if (push) {
    if (project === undefined || push.ref === null || push.action === 'removed') {
      return <code>{push.ref}</code>
    }
    return (
      <>
        <A class="mono" href={pathOf(project, '-', 'commits', push.ref)}>
          {push.ref}
        </A>{' '}
        <span class="quiet">{push.commit_title}</span>
      </>
    )
  }
  const kind = note ? note.noteable_type : type
  const folder = folders[kind ?? '']
  const number = note ? note.noteable_iid : iid
  if (project === undefined || folder === undefined || number === null) return <>{title}</>
  const hash = note ? `#note_${note.id}` : ''
  return <A href={`${pathOf(project, '-', folder, number)}${hash}`}>{title ?? `#${number}`}</A>
}
