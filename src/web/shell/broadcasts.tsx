import { useShown } from '../context.ts'
import { ButtonForm } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { Markdown } from '../parts/markdown.tsx'

/** What administrators announce to everybody, at the top of every page. */
export function Broadcasts() {
  const { broadcasts } = useShown()
  if (broadcasts.length === 0) return null
  return (
    <section aria-label="Messages">
      {broadcasts.map(({ id, html, type, theme, dismissable }) => (
        <div key={id} class={`broadcast ${type} theme-${theme.replace('light-', '')}`}>
          <Markdown html={html} />
          {dismissable && (
            <ButtonForm
              action={`/-/broadcast_messages/${id}/dismiss`}
              kind="quiet"
              title="Show this message no more"
              label={<Icon name="x" label="Dismiss this message" />}
            />
          )}
        </div>
      ))}
    </section>
  )
}
