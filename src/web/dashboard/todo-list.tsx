import type { listTodos } from '../../discussions/todos/endpoints.ts'
import type { DataOf } from '../../http/endpoint.ts'
import { PersonLink, Time } from '../parts/basics.tsx'
import { ButtonForm } from '../parts/form.tsx'
import { A } from '../parts/link.tsx'

export type Todo = DataOf<typeof listTodos>['items'][number]

const words: Readonly<Record<string, string>> = {
  assigned: 'assigned to you',
  mentioned: 'you were mentioned',
  directly_addressed: 'you were addressed',
  build_failed: 'its pipeline failed',
  marked: 'you marked it',
  approval_required: 'your approval is needed',
  unmergeable: 'it can no longer be merged',
  member_access_requested: 'somebody asks for access',
  review_requested: 'your review is asked for',
  review_submitted: 'a review was sent',
}

/** What waits for the caller, with a button to be done with each. */
export function TodoList({ todos }: { todos: readonly Todo[] }) {
  return (
    <ul class="list">
      {todos.map((todo) => (
        <li key={todo.id}>
          <div class="main">
            <A class="title" href={todo.target_url}>
              {titleOf(todo)}
            </A>
            <p class="facts">
              {words[todo.action_name] ?? todo.action_name.replaceAll('_', ' ')}
              {todo.author && (
                <>
                  {' · '}
                  <PersonLink of={todo.author} />
                </>
              )}{' '}
              · {todo.project?.path_with_namespace ?? todo.group?.full_path} ·{' '}
              <Time at={todo.created_at} />
            </p>
          </div>
          {todo.state === 'pending' && (
            <ButtonForm
              action={`/dashboard/todos/${todo.id}/done`}
              label="Done"
              title={`Done: ${titleOf(todo)}`}
            />
          )}
        </li>
      ))}
    </ul>
  )
}

function titleOf({ target, body }: Todo): string {
  if (target && 'title' in target) return target.title
  return target?.name ?? body
}
