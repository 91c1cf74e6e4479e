"""Drives snippets and wikis of a started server with python-gitlab, unchanged. Usage: pages.py URL TOKEN"""

import sys
import tempfile

import gitlab

url, token = sys.argv[1:3]
gl = gitlab.Gitlab(url, private_token=token)


def snippets():
    made = gl.snippets.create(
        {"title": "From Python", "file_name": "a.py", "content": "print(1)\n"}
    )
    assert made.id in [one.id for one in gl.snippets.list(get_all=True)]
    found = gl.snippets.get(made.id)
    assert found.title == "From Python" and found.files[0]["path"] == "a.py"
    assert found.content() == b"print(1)\n"
    files = [{"action": "update", "file_path": "a.py", "content": "print(2)\n"}]
    gl.snippets.update(made.id, {"title": "Renamed", "files": files})
    found = gl.snippets.get(made.id)
    found.visibility = "public"
    found.save()
    assert gl.snippets.get(made.id).content() == b"print(2)\n"
    assert made.id in [one.id for one in gl.snippets.public(get_all=True)]
    detail = found.user_agent_detail()
    assert detail["user_agent"].startswith("python-gitlab")
    found.delete()
    try:
        gl.snippets.get(made.id)
        raise AssertionError("still there")
    except gitlab.GitlabGetError as error:
        assert error.response_code == 404


def project_snippets(project):
    made = project.snippets.create(
        {
            "title": "Here",
            "file_name": "foo.py",
            "content": "initial content",
            "visibility": "private",
        }
    )
    assert made in project.snippets.list()
    assert made.content().decode() == "initial content"
    made.file_name = "bar.py"
    made.save()
    assert project.snippets.get(made.id).file_name == "bar.py"
    assert made.user_agent_detail()["user_agent"]
    note = made.notes.create({"body": "a note"})
    assert made.notes.get(note.id).body == "a note"
    award = note.awardemojis.create({"name": "heart"})
    assert award in note.awardemojis.list()
    award.delete()
    discussion = made.discussions.create({"body": "why?"})
    reply = discussion.notes.create({"body": "because"})
    discussion = made.discussions.get(discussion.id)
    assert discussion.attributes["notes"][-1]["body"] == "because"
    reply.body = "so"
    reply.save()
    reply.delete()
    emoji = made.awardemojis.create({"name": "thumbsup"})
    assert [one.id for one in made.awardemojis.list()] == [emoji.id]
    made.delete()
    assert made not in project.snippets.list()


def wikis(holder):
    page = holder.wikis.create({"title": "title/subtitle", "content": "initial *wiki* content"})
    assert page.slug == "title/subtitle"
    assert [one.slug for one in holder.wikis.list()] == ["title/subtitle"]
    page = holder.wikis.get("title/subtitle")
    assert page.content == "initial *wiki* content"
    page.content = "updated"
    page.save()
    assert holder.wikis.get(page.slug).content == "updated"
    assert holder.wikis.list(with_content=True)[0].content == "updated"
    if hasattr(page, "upload"):
        with tempfile.NamedTemporaryFile(suffix=".txt") as file:
            file.write(b"attached")
            file.flush()
            answer = page.upload("note.txt", filepath=file.name)
        assert answer["file_name"] == "note.txt", answer
    page.delete()
    assert holder.wikis.list() == []


def main():
    snippets()
    print("done snippets")
    project = gl.projects.create({"name": "Pages"})
    project_snippets(project)
    print("done project snippets")
    wikis(project)
    project.delete()
    group = gl.groups.create({"name": "Pages", "path": "pages"})
    wikis(group)
    group.delete()
    print("done wikis")


main()
