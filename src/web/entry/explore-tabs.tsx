import { A } from '../parts/link.tsx'

export function ExploreTabs({ current }: { current: 'projects' | 'groups' }) {
  const mark = (name: string) => (name === current ? { 'aria-current': 'page' } : {})
  return (
    <nav class="tabs" aria-label="Explore">
      <A href="/explore" {...mark('projects')}>
        Projects
      </A>
      <A href="/explore/groups" {...mark('groups')}>
        Groups
      </A>
    </nav>
  )
}
