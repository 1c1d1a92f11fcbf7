"""What an adversary would have an agent remember, or put among its skills: families of attacks, each drawn by seeds.

Nothing here knows how it is kept out. `texts` are entries of a memory and bodies of skills, `folders` are skills on disk,
`archives` are skills to install, `names` are what a model or a person may be made to say to a tool or a command.
"""
