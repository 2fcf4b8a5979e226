"""The programs: server and worker, composed from the layers below."""
