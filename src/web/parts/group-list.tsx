import { pathOf } from '../address.ts'
import { VisibilityMark } from '../project/visibility.tsx'
import { Avatar } from './basics.tsx'
import { A } from './link.tsx'

/** A group as lists give it. */
export interface ListedGroup {
  readonly id: number
  readonly name: string
  readonly full_name: string
  readonly full_path: string
  readonly description: string | null
  readonly visibility: string
  readonly avatar_url: string | null
}

export function GroupList({ groups }: { groups: readonly ListedGroup[] }) {
  return (
    <ul class="list">
      {groups.map((group) => (
        <li key={group.id}>
          <Avatar of={group} size={32} />
          <div class="main">
            <A class="title" href={pathOf(group.full_path)}>
              {group.full_name}
            </A>{' '}
            <VisibilityMark visibility={group.visibility} />
            {group.description && <p class="facts">{group.description}</p>}
          </div>
        </li>
      ))}
    </ul>
  )
}
