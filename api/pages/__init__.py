"""The pages for people: server-rendered, on the same services as the JSON API."""
