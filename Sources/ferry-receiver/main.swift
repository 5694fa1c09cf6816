print("ferry-receiver")
